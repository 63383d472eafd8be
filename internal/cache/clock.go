// Package cache bounds the memory of what is made once and used again. There is one rule of
// eviction, that of a clock: when a new entry does not fit, a hand goes round the entries, and
// drops those that were not used since it passed them last. To use an entry takes no lock.
//
// A Clock bounds entries of any kind, which their owners find on their own. A Cache is a Clock
// whose entries are found by a key.
package cache

import (
	"sync"
	"sync/atomic"
)

// Entry is what a Clock bounds. It embeds a Mark.
type Entry interface {
	mark() *Mark
	Size() int64 // in bytes, always the same
	Drop()       // takes the entry away from where it is found; it must not use the Clock
}

// Mark is the part of an Entry that a Clock uses.
type Mark struct {
	used atomic.Bool // since the hand passed last
	at   int         // position in the ring
}

func (m *Mark) mark() *Mark { return m }

// Use notes that the entry was used.
func (m *Mark) Use() {
	if !m.used.Load() { // mostly set: without a write, the cache line stays shared between cores
		m.used.Store(true)
	}
}

// Clock bounds the bytes of entries. Any number of goroutines may share it.
type Clock struct {
	mu    sync.Mutex
	limit atomic.Int64
	bytes atomic.Int64
	ring  []Entry
	hand  int
}

// NewClock returns a Clock of at most so many bytes.
func NewClock(limit int64) *Clock {
	c := new(Clock)
	c.limit.Store(limit)
	return c
}

// Bytes is the size of all entries.
func (c *Clock) Bytes() int64 { return c.bytes.Load() }

// Limit is the most bytes of all entries.
func (c *Clock) Limit() int64 { return c.limit.Load() }

// IsNearlyFull reports whether less than a quarter is free. Entries that save little are not worth
// adding then, since they would be dropped and made again and again.
func (c *Clock) IsNearlyFull() bool { return c.bytes.Load() > c.limit.Load()/4*3 }

// SetLimit changes the limit, and drops what is above it.
func (c *Clock) SetLimit(limit int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit.Store(limit)
	c.makeRoom(0)
}

// Add adds an entry, and drops others until there is room for it: the entry itself too if it is
// larger than the limit.
func (c *Clock) Add(e Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(e)
}

func (c *Clock) add(e Entry) {
	c.makeRoom(e.Size())
	e.mark().at = len(c.ring)
	c.ring = append(c.ring, e)
	c.bytes.Add(e.Size())
	c.makeRoom(0)
}

// makeRoom drops entries until so many bytes fit.
func (c *Clock) makeRoom(size int64) {
	for c.bytes.Load()+size > c.limit.Load() && len(c.ring) > 0 {
		c.hand %= len(c.ring)
		if e := c.ring[c.hand]; !e.mark().used.Swap(false) {
			c.drop(e)
		} else {
			c.hand++
		}
	}
}

// drop drops an entry, in whose place the last one of the ring comes.
func (c *Clock) drop(e Entry) {
	last, at := len(c.ring)-1, e.mark().at
	c.ring[at] = c.ring[last]
	c.ring[at].mark().at = at
	c.ring[last] = nil
	c.ring = c.ring[:last]
	c.bytes.Add(-e.Size())
	e.Drop()
}

// Clear drops all entries.
func (c *Clock) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.ring) > 0 {
		c.drop(c.ring[len(c.ring)-1])
	}
}
