package wire

import "sync/atomic"

// Shared counts the readers of a body that several answers send. Embed it in the type that has the
// body. While the body is in a cache, it counts towards the cache. After Evict it counts as in
// flight, once, until the last reader is done.
type Shared struct {
	budget  *Budget
	size    int64
	readers atomic.Int64 // answers that send it, plus evictedBias after eviction
}

// evictedBias is added to readers on eviction: readers == evictedBias means that no reader is left.
const evictedBias = 1 << 62

// Init sets the size of the body and the budget that counts it after eviction.
func (s *Shared) Init(budget *Budget, size int) { s.budget, s.size = budget, int64(size) }

// Size returns the memory of the body.
func (s *Shared) Size() int { return int(s.size) }

// Acquire adds readers.
func (s *Shared) Acquire(readers int) { s.readers.Add(int64(readers)) }

// Readers returns the number of readers before eviction.
func (s *Shared) Readers() int { return int(s.readers.Load()) }

// Release removes one reader.
func (s *Shared) Release() {
	if s.readers.Add(-1) == evictedBias {
		s.budget.Add(-s.size)
	}
}

// Evict records that the body is not in a cache any more: from now on its readers keep it in
// memory. It is counted as in flight before readers is checked, so that the last reader never
// subtracts bytes that were not added.
func (s *Shared) Evict() {
	s.budget.Add(s.size)
	if s.readers.Add(evictedBias) == evictedBias {
		s.budget.Add(-s.size)
	}
}
