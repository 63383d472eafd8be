package encode

import (
	"sync"
	"sync/atomic"

	"github.com/klauspost/crc32"
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

// BlockCache bounds the memory of the stored blocks of any number of tables, and of other memory
// that is reserved in it.
type BlockCache struct {
	limit atomic.Int64
	used  atomic.Int64
	other atomic.Int64 // what was reserved; used counts it too
	lists atomic.Int64 // lists of blocks, which stay as long as the tables; used does not count them
	mu    sync.Mutex
	users []*sizedBlocks

	// forget frees the memory that callers of Join have reserved.
	forget []func() int64
}

// DefaultCacheBytes is the default limit of a BlockCache. It suffices for about three million rows
// in one format.
const DefaultCacheBytes = 32 << 20

// NewBlockCache returns a cache that keeps at most this many bytes; 0 means DefaultCacheBytes.
func NewBlockCache(bytes int64) *BlockCache {
	if bytes == 0 {
		bytes = DefaultCacheBytes
	}
	c := new(BlockCache)
	c.limit.Store(bytes)
	return c
}

// SetLimit changes the limit, and drops the blocks above it.
func (c *BlockCache) SetLimit(bytes int64) {
	c.limit.Store(bytes)
	if c.used.Load() > bytes {
		c.sweep()
	}
	if c.used.Load() > bytes {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.forgetOther()
	}
}

// Join adds a function that frees all memory that its caller has reserved, and returns how many
// bytes that was.
func (c *BlockCache) Join(forget func() int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget = append(c.forget, forget)
}

// Reserve counts bytes that are no blocks towards the limit. It returns false, and counts nothing,
// if they would exceed the limit, or if all that is reserved would exceed half of it: the rest is
// for blocks.
func (c *BlockCache) Reserve(bytes int64) bool {
	limit := c.limit.Load()
	if c.other.Add(bytes) > limit/2 {
		c.other.Add(-bytes)
		return false
	}
	if c.used.Add(bytes) > limit {
		c.Release(bytes)
		return false
	}
	return true
}

// Release is the opposite of Reserve.
func (c *BlockCache) Release(bytes int64) {
	c.other.Add(-bytes)
	c.used.Add(-bytes)
}

func (c *BlockCache) forgetOther() {
	for _, forget := range c.forget {
		c.Release(forget())
	}
}

// Bytes is the memory of the blocks that are cached, and what was reserved.
func (c *BlockCache) Bytes() int64 { return c.used.Load() }

// ListBytes is the memory of the lists of blocks.
func (c *BlockCache) ListBytes() int64 { return c.lists.Load() }

// Forget gives up all blocks, and what was reserved.
func (c *BlockCache) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetOther()
	for _, user := range c.users {
		for i := range user.groups {
			g := user.groups[i].Load()
			for k := 0; g != nil && k < len(g); k++ {
				if b := g[k].Swap(nil); b != nil {
					c.used.Add(-b.size())
				}
			}
		}
	}
}

// storedBlock is a block's compressed rows.
type storedBlock struct {
	data  []byte
	plain uint32      // length of the rows' text
	crc   uint32      // of the text
	shift uint32      // factor of the CRC before it
	marks []rowMark   // of the rows, and of their end; row blocks only
	used  atomic.Bool // since the last sweep
}

// blockOverhead is the memory that a block takes besides its data.
const blockOverhead = 64

// newGzipBlock returns a block with a copy of data.
func newGzipBlock(data, text []byte) *storedBlock {
	b := &storedBlock{data: append(make([]byte, 0, len(data)), data...), plain: uint32(len(text))}
	b.crc, b.shift = crc32.ChecksumIEEE(text), crcShift(len(text))
	return b
}

func (b *storedBlock) size() int64 {
	return int64(cap(b.data)+rowMarkBytes*cap(b.marks)) + blockOverhead
}

// sizedBlocks are the stored blocks of one size of one table.
type sizedBlocks struct {
	cache  *BlockCache
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
		s.cache.lists.Add(8 * int64(len(s.groups)))
		s.cache.mu.Lock()
		s.cache.users = append(s.cache.users, s)
		s.cache.mu.Unlock()
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
	if !b.used.Load() { // usually set: without a write, the cache line stays shared between cores
		b.used.Store(true)
	}
	return b
}

func (s *sizedBlocks) make(n uint32) *storedBlock {
	b := s.encode(s.rows, n*s.size, (n+1)*s.size)
	group := &s.groups[n/groupBlocks]
	if group.Load() == nil && group.CompareAndSwap(nil, new(blockGroup)) {
		s.cache.lists.Add(8 * groupBlocks)
	}
	at := &group.Load()[n%groupBlocks]
	if !at.CompareAndSwap(nil, b) {
		if other := at.Load(); other != nil {
			return other
		}
		return b // another goroutine's block was swept in the meantime
	}
	if s.cache.used.Add(b.size()) > s.cache.limit.Load() {
		s.cache.sweep()
	}
	return b
}

// nearlyFull reports whether a sweep may soon follow. Row blocks are made before it only: they save
// less than what making them again and again would cost.
func (c *BlockCache) nearlyFull() bool { return c.used.Load() > c.limit.Load()/4*3 }

// sweep drops blocks until a quarter of the limit is free: first those that were not used since the
// last sweep, then any.
func (c *BlockCache) sweep() {
	if !c.mu.TryLock() {
		return // another goroutine is sweeping
	}
	defer c.mu.Unlock()
	for _, all := range []bool{false, true} {
		for _, user := range c.users {
			for i := range user.groups {
				if g := user.groups[i].Load(); g != nil && c.sweepGroup(g, all) {
					return
				}
			}
		}
	}
}

// sweepGroup drops blocks of a group and reports whether a quarter of the limit is free. With all
// it also drops blocks that were used since the last sweep.
func (c *BlockCache) sweepGroup(g *blockGroup, all bool) (enough bool) {
	for i := range g {
		if c.used.Load() <= c.limit.Load()/4*3 {
			return true
		}
		b := g[i].Load()
		if b == nil || !all && b.used.Swap(false) {
			continue
		}
		if g[i].CompareAndSwap(b, nil) {
			c.used.Add(-b.size())
		}
	}
	return false
}
