package encode

import (
	"sync"
	"sync/atomic"

	"github.com/klauspost/crc32"

	"hdqs/internal/cache"
)

// A stored block is a number of rows, compressed once and copied into every body that contains
// them: a page of 10,000 neighbouring rows is mostly copied. A block refers back to at most reach
// rows, so it fits wherever these precede it, and anything can follow it.
//
// There are two sizes: large blocks, and small ones for the rows at both ends of a run that fill no
// large block.
const (
	storedRows = 128
	smallRows  = 32
	reach      = 32
)

// DefaultCacheBytes is the default limit of the stored blocks of a table. It suffices for about
// three million rows in one format.
const DefaultCacheBytes = 32 << 20

// storedBlock is a block's compressed rows.
type storedBlock struct {
	cache.Mark
	data  []byte
	plain uint32    // length of the rows' text
	crc   uint32    // of the text
	shift uint32    // factor of the CRC before it
	marks []rowMark // of the rows, and of their end; row blocks only

	in *atomic.Pointer[storedBlock] // the place where it is found
}

// blockOverhead is the memory that a block takes besides its data.
const blockOverhead = 104

// newGzipBlock returns a block with a copy of data.
func newGzipBlock(data, text []byte) *storedBlock {
	b := &storedBlock{data: append(make([]byte, 0, len(data)), data...), plain: uint32(len(text))}
	b.crc, b.shift = crc32.ChecksumIEEE(text), crcShift(len(text))
	return b
}

// Size is the memory of the block.
func (b *storedBlock) Size() int64 {
	return int64(cap(b.data)+rowMarkBytes*cap(b.marks)) + blockOverhead
}

// Drop takes the block out of its table.
func (b *storedBlock) Drop() { b.in.CompareAndSwap(b, nil) }

// sizedBlocks are the stored blocks of one size of one table.
type sizedBlocks struct {
	cache  *cache.Clock
	rows   Rows
	size   uint32 // rows in a block
	encode func(rows Rows, from, to uint32) *storedBlock
	once   sync.Once
	groups []atomic.Pointer[blockGroup] // nil where no block was requested yet
}

// blockGroup is neighbouring blocks. Most small blocks are never requested: only those at the ends
// of runs are.
type blockGroup [groupBlocks]atomic.Pointer[storedBlock]

const groupBlocks = 64

// open allocates the table of groups when the first block is requested.
func (s *sizedBlocks) open() {
	s.once.Do(func() {
		count := s.rows.Len() / int(s.size)
		s.groups = make([]atomic.Pointer[blockGroup], (count+groupBlocks-1)/groupBlocks)
	})
}

// at returns block number n. If the block does not exist, it makes the block and decrements budget,
// or returns nil when budget is 0.
func (s *sizedBlocks) at(n uint32, budget *int) *storedBlock {
	var b *storedBlock
	g := s.groups[n/groupBlocks].Load()
	if g != nil {
		b = g[n%groupBlocks].Load()
	}
	if b == nil {
		if *budget <= 0 {
			return nil
		}
		*budget--
		b = s.make(n)
	}
	b.Use()
	return b
}

func (s *sizedBlocks) make(n uint32) *storedBlock {
	b := s.encode(s.rows, n*s.size, (n+1)*s.size)
	group := &s.groups[n/groupBlocks]
	if group.Load() == nil {
		group.CompareAndSwap(nil, new(blockGroup))
	}
	b.in = &group.Load()[n%groupBlocks]
	if b.in.CompareAndSwap(nil, b) {
		s.cache.Add(b)
	} else if other := b.in.Load(); other != nil {
		return other
	}
	return b
}
