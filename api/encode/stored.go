package encode

import (
	"hash/crc32"
	"sync"
	"sync/atomic"
)

// Stored blocks are compressed rows, made once and put into every body whose rows include theirs: a page of 10,000 neighbouring rows is
// then mostly copied. A block refers to at most reach rows in front of it, so it may stand wherever those stand in front of it, and ends so
// that anything may follow.
//
// There are two sizes: at both ends of a run of rows, up to the next block, small ones take the place of rows that would be encoded anew.
const (
	storedRows = 128
	smallRows  = 32
	reach      = 32
)

// Store bounds the memory of stored blocks, of any number of tables.
type Store struct {
	limit   int64
	used    atomic.Int64
	mu      sync.Mutex
	shelves []*shelf
}

// DefaultStoreBytes is the limit of a Store made with 0: some three million rows of one coding.
const DefaultStoreBytes = 32 << 20

// NewStore keeps at most so many bytes; 0 stands for DefaultStoreBytes.
func NewStore(bytes int64) *Store {
	if bytes == 0 {
		bytes = DefaultStoreBytes
	}
	return &Store{limit: bytes}
}

// storedBlock is the rows of one block, compressed.
type storedBlock struct {
	data  []byte
	plain uint32 // length of the rows' text
	crc   uint32 // of the text, and what a CRC in front of it is multiplied with; gzip only
	shift uint32
	used  atomic.Bool // since the last sweep
}

// blockOverhead is the memory a block takes besides its data.
const blockOverhead = 64

// newStoredBlock keeps its own copy of data.
func newStoredBlock(data, text []byte) *storedBlock {
	b := &storedBlock{data: append(make([]byte, 0, len(data)), data...), plain: uint32(len(text))}
	b.crc, b.shift = crc32.ChecksumIEEE(text), crcShift(len(text))
	return b
}

func (b *storedBlock) size() int64 { return int64(cap(b.data)) + blockOverhead }

// shelf holds the blocks of one size of one table in one coding.
type shelf struct {
	store  *Store
	rows   Rows
	size   uint32 // rows of a block
	make   func(rows Rows, from, to uint32) *storedBlock
	once   sync.Once
	blocks []atomic.Pointer[storedBlock]
}

// open makes room for the blocks when the first is asked for.
func (s *shelf) open() {
	s.once.Do(func() {
		s.blocks = make([]atomic.Pointer[storedBlock], s.rows.Len()/int(s.size))
		s.store.mu.Lock()
		s.store.shelves = append(s.store.shelves, s)
		s.store.mu.Unlock()
	})
}

// at is block number n, or nil. When the block is not there and fills is above 0, it is made and fills falls by one.
func (s *shelf) at(n uint32, fills *int) *storedBlock {
	b := s.blocks[n].Load()
	if b == nil {
		if *fills <= 0 {
			return nil
		}
		*fills--
		b = s.fill(n)
	}
	if !b.used.Load() { // most are: the line stays shared between the cores
		b.used.Store(true)
	}
	return b
}

func (s *shelf) fill(n uint32) *storedBlock {
	b := s.make(s.rows, n*s.size, (n+1)*s.size)
	if !s.blocks[n].CompareAndSwap(nil, b) {
		if other := s.blocks[n].Load(); other != nil {
			return other
		}
		return b // another goroutine's was swept meanwhile
	}
	if s.store.used.Add(b.size()) > s.store.limit {
		s.store.sweep()
	}
	return b
}

// sweep drops the blocks that were not used since the last sweep, and if that is not enough, what it meets first, until a quarter of the
// limit is free.
func (s *Store) sweep() {
	if !s.mu.TryLock() {
		return // somebody is at it
	}
	defer s.mu.Unlock()
	for _, all := range []bool{false, true} {
		for _, shelf := range s.shelves {
			for i := range shelf.blocks {
				if s.used.Load() <= s.limit/4*3 {
					return
				}
				b := shelf.blocks[i].Load()
				if b == nil || !all && b.used.Swap(false) {
					continue
				}
				if shelf.blocks[i].CompareAndSwap(b, nil) {
					s.used.Add(-b.size())
				}
			}
		}
	}
}
