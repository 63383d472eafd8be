package cache

// Cache keeps values by key, up to a number of bytes. Any number of goroutines may share it.
type Cache[K comparable, V any] struct {
	clock   Clock
	entries map[K]*keyed[K, V]
	evicted func(V)
}

type keyed[K comparable, V any] struct {
	Mark
	in    *Cache[K, V]
	key   K
	value V
	size  int64
}

func (e *keyed[K, V]) Size() int64 { return e.size }

func (e *keyed[K, V]) Drop() {
	delete(e.in.entries, e.key)
	if e.in.evicted != nil {
		e.in.evicted(e.value)
	}
}

// New returns a Cache of at most so many bytes. evicted, unless nil, is called with each value that
// leaves. It must not use the cache.
func New[K comparable, V any](limit int64, evicted func(V)) *Cache[K, V] {
	c := &Cache[K, V]{entries: map[K]*keyed[K, V]{}, evicted: evicted}
	c.clock.limit.Store(limit)
	return c
}

// Get returns the value of a key, and whether there is one. It does not keep the key.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.clock.mu.Lock()
	defer c.clock.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		return value, false
	}
	e.Use()
	return e.value, true
}

// Put keeps a value of that size under a key, in place of the one before. A value larger than a
// quarter of the limit is not kept.
func (c *Cache[K, V]) Put(key K, value V, size int64) (kept bool) {
	if size > c.Limit()/4 {
		return false
	}
	c.clock.mu.Lock()
	defer c.clock.mu.Unlock()
	if before := c.entries[key]; before != nil {
		c.clock.drop(before)
	}
	e := &keyed[K, V]{in: c, key: key, value: value, size: size}
	c.entries[key] = e
	c.clock.add(e)
	return true
}

// Delete evicts the value of a key, if there is one.
func (c *Cache[K, V]) Delete(key K) {
	c.clock.mu.Lock()
	defer c.clock.mu.Unlock()
	if e := c.entries[key]; e != nil {
		c.clock.drop(e)
	}
}

// MakeRoom evicts values until so many bytes fit.
func (c *Cache[K, V]) MakeRoom(size int64) {
	c.clock.mu.Lock()
	defer c.clock.mu.Unlock()
	c.clock.makeRoom(size)
}

// Limit is the most bytes of all values.
func (c *Cache[K, V]) Limit() int64 { return c.clock.Limit() }

// SetLimit changes the limit, and evicts what is above it.
func (c *Cache[K, V]) SetLimit(limit int64) { c.clock.SetLimit(limit) }

// Bytes is the size of all values.
func (c *Cache[K, V]) Bytes() int64 { return c.clock.Bytes() }

// Clear evicts all values.
func (c *Cache[K, V]) Clear() { c.clock.Clear() }
