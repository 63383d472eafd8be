package index

import (
	"sync"
	"sync/atomic"
)

// cache keeps the most recently used entries, up to a number of bytes. Goroutines may share it.
type cache struct {
	mu      sync.Mutex
	limit   atomic.Int64
	bytes   int
	entries map[string]*cacheEntry
	// Ring of entries, from the most recently used (root.next) to the least (root.prev).
	root cacheEntry
}

type cacheEntry struct {
	prev, next *cacheEntry
	key        string
	value      any
	bytes      int
}

// entryBytes is the cost of an entry besides key and value: the entry, its place in the map, and
// the headers of key and value.
const entryBytes = 160

func newCache(limit int) *cache {
	c := &cache{entries: make(map[string]*cacheEntry)}
	c.limit.Store(int64(limit))
	c.root.prev, c.root.next = &c.root, &c.root
	return c
}

// get returns the value of a key, nil if there is none. It does not keep the key.
func (c *cache) get(key []byte) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[string(key)]
	if e == nil {
		return nil
	}
	e.unlink()
	e.linkAfter(&c.root)
	return e.value
}

// put stores a value of that size under a key, replaces the previous one and evicts the least
// recently used entries. A value larger than a quarter of the cache is not stored.
func (c *cache) put(key []byte, value any, size int) {
	size += len(key) + entryBytes
	limit := int(c.limit.Load())
	if size > limit/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[string(key)]; e != nil {
		c.drop(e)
	}
	for c.bytes+size > limit {
		c.drop(c.root.prev)
	}
	e := &cacheEntry{key: string(key), value: value, bytes: size}
	c.entries[e.key] = e
	c.bytes += size
	e.linkAfter(&c.root)
}

// setLimit changes the limit, and evicts what is above it.
func (c *cache) setLimit(bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit.Store(int64(bytes))
	for c.bytes > bytes {
		c.drop(c.root.prev)
	}
}

func (c *cache) drop(e *cacheEntry) {
	e.unlink()
	delete(c.entries, e.key)
	c.bytes -= e.bytes
}

// clear drops all entries.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
	c.root.prev, c.root.next = &c.root, &c.root
	c.bytes = 0
}

// size is the number of bytes in use.
func (c *cache) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

func (e *cacheEntry) unlink() {
	e.prev.next, e.next.prev = e.next, e.prev
}

func (e *cacheEntry) linkAfter(at *cacheEntry) {
	e.prev, e.next = at, at.next
	at.next.prev = e
	at.next = e
}
