package list

import (
	"encoding/binary"
	"errors"
	"sync"

	"hdqs/api/encode"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/api/wire"
	"hdqs/internal/cache"
)

// BodyCache caches bodies at their second request, and lets requests wait for a body that another
// request is rendering. Its key is the entity tag, which is computed from the table's content and
// the canonical query. So its bodies are never out of date, and a swap keeps the answers of
// unchanged tables. Bodies that a swap makes useless are not requested any more and are evicted
// first.
//
// Streamed bodies (stream.go) are not cached: rendering them costs no more than reading them from
// memory.
//
// An evicted body stays in memory while clients read it. Then it counts as bytes in flight, once
// for all of them (wire.Shared). The memory of one that no answer ever sent is used again for
// another body: under many different requests most are of that kind, and new memory would cost a
// page fault for each of its pages.
type BodyCache struct {
	shards  [bodyShards]bodyShard
	maxBody int // the longest body that is cached
	budget  *wire.Budget
}

// Sizes of the body cache.
const (
	bodyShards = 16

	// seenKeys is how many keys that were requested once a shard remembers.
	seenKeys = 256

	// cachedOverhead is the memory of a cached body besides its bytes.
	cachedOverhead = 256
)

// bodyKey identifies a body. Two clients that accept the same coding get different bodies if one of
// them refuses uncompressed ones and the body is short.
type bodyKey struct {
	Tag             reply.EntityTag
	Coding          encode.Coding
	refusesIdentity bool
}

// shard is the part of the cache that has a key.
func (k *bodyKey) shard() int { return int(k.Tag[3]) % bodyShards }

func (k *bodyKey) hash() uint64 {
	return (binary.LittleEndian.Uint64(k.Tag[4:]) + uint64(k.Coding)) * 0x9E3779B97F4A7C15
}

// Finished is a body with the values for its header. It never changes, so any number of requests
// may send it at once.
type Finished struct {
	Body        []byte
	coding      encode.Coding
	Rows, Total int
	header      []reply.HeaderField // of the answer's own
	provisional []byte              // months of provisional rows
}

// cachedBody is a cached body, or one that was rendered for waiters only.
type cachedBody struct {
	wire.Shared
	Finished
	lent bool // an answer has sent it, and may still be reading it
}

// inFlight is a body that a request is rendering.
type inFlight struct {
	Key     bodyKey
	keep    bool
	waiters int
	done    chan struct{} // closed at the end; nil while nobody waits
	result  *cachedBody   // nil when there is no body to share
	err     error         // why there is no body, if that applies to the waiters too
}

type bodyShard struct {
	sync.Mutex
	found    cacheCounts
	kept     *cache.Cache[bodyKey, *cachedBody]
	wanted   int    // the length of the body that others are evicted for
	spare    []byte // memory of one of them that has room for it
	inFlight map[bodyKey]*inFlight
	free     []*inFlight
	seen     [seenKeys]uint64 // hashes of keys that were requested once
}

// newBodyCache returns a cache of at most so many bytes. Zero is CacheBytes; a negative number
// returns nil, which caches nothing.
func newBodyCache(bytes int64, budget *wire.Budget) *BodyCache {
	switch {
	case bytes < 0:
		return nil
	case bytes == 0:
		bytes = state.CacheBytes
	}
	limit := int(bytes / bodyShards)
	c := &BodyCache{maxBody: limit / 4, budget: budget}
	for i := range c.shards {
		s := &c.shards[i]
		s.kept = cache.New[bodyKey](int64(limit), s.evicted)
		s.inFlight = map[bodyKey]*inFlight{}
	}
	return c
}

// do returns the body of a key, from the cache or from another request that is rendering it. The
// caller is one of its readers and releases it. Otherwise do calls create, which answers the
// caller's own request and returns nil here; a copy of its result goes to the requests that waited
// meanwhile. They get its error if that is *Busy. Without a body or such an error, each of them
// renders its own.
func (c *BodyCache) do(key bodyKey, create func() (Finished, error)) (*cachedBody, error) {
	known, own, err := c.begin(key)
	if known != nil || err != nil {
		return known, err
	}
	var result Finished
	defer func() {
		if _, busy := errors.AsType[*reply.Busy](err); busy {
			c.end(own, result, err)
		} else {
			c.end(own, result, nil)
		}
	}()
	result, err = create()
	return nil, err
}

// begin returns the body of a key, waiting for it if another request is rendering it. If there is
// no body, the caller renders it and then calls end with the entry returned here, which is nil if
// there is no cache. An error is from the request that was rendering the body.
func (c *BodyCache) begin(key bodyKey) (*cachedBody, *inFlight, error) {
	if c == nil {
		return nil, nil, nil
	}
	s := &c.shards[key.shard()]
	s.Lock()
	if b, ok := s.kept.Get(key); ok {
		b.lent = true
		b.Acquire(1)
		s.found.Hits++
		s.Unlock()
		return b, nil, nil
	}
	if m := s.inFlight[key]; m != nil {
		m.waiters++
		s.found.Joins++
		if m.done == nil {
			m.done = make(chan struct{})
		}
		done := m.done
		s.Unlock()
		<-done
		return m.result, nil, m.err
	}
	m := s.start(key)
	s.found.Misses++
	s.Unlock()
	return nil, m, nil
}

// cacheCounts counts requests by their outcome, and the bytes that are cached.
type cacheCounts struct{ Hits, Joins, Misses, Bytes int64 }

// Counts sums over the shards. It is zero without a cache.
func (c *BodyCache) Counts() (all cacheCounts) {
	if c == nil {
		return all
	}
	for i := range c.shards {
		s := &c.shards[i]
		s.Lock()
		all.Hits += s.found.Hits
		all.Joins += s.found.Joins
		all.Misses += s.found.Misses
		s.Unlock()
		all.Bytes += s.kept.Bytes()
	}
	return all
}

// start adds an in-flight entry. Its body will be cached if the key was requested before.
func (s *bodyShard) start(key bodyKey) *inFlight {
	m := new(inFlight)
	if n := len(s.free); n > 0 {
		m, s.free = s.free[n-1], s.free[:n-1]
	}
	hash := key.hash()
	seen := &s.seen[hash>>32%seenKeys]
	*m = inFlight{Key: key, keep: *seen == hash}
	*seen = hash
	s.inFlight[key] = m
	return m
}

// end removes an in-flight entry, and gives a copy of the body to the cache and to the waiters.
// With an error the waiters get that. With neither, each renders its own.
func (c *BodyCache) end(m *inFlight, result Finished, err error) {
	if m == nil {
		return
	}
	s := &c.shards[m.Key.shard()]
	s.Lock()
	if result.Body == nil || len(result.Body) > c.maxBody && m.waiters == 0 || !m.keep && m.waiters == 0 {
		s.finish(m, nil, err)
		s.Unlock()
		return
	}
	var memory []byte
	if m.keep && len(result.Body) <= c.maxBody {
		s.wanted = len(result.Body)
		s.kept.MakeRoom(int64(s.wanted + cachedOverhead))
		memory = s.spare
		s.wanted, s.spare = 0, nil
	}
	s.Unlock()
	// Requests that arrive during the copy still find the entry.
	if memory == nil {
		memory = make([]byte, 0, len(result.Body))
	}
	b := &cachedBody{Finished: result}
	b.Body = append(memory, result.Body...)
	b.Init(c.budget, cap(b.Body)+cachedOverhead)
	s.Lock()
	b.Acquire(m.waiters)
	b.lent = m.waiters > 0
	if !s.kept.Put(m.Key, b, int64(b.Size())) {
		b.Evict()
	}
	s.finish(m, b, nil)
	s.Unlock()
}

// finish wakes the waiters. An entry that nobody waited for is reused.
func (s *bodyShard) finish(m *inFlight, result *cachedBody, err error) {
	delete(s.inFlight, m.Key)
	if m.done == nil {
		s.free = append(s.free, m)
		return
	}
	m.result, m.err = result, err
	close(m.done)
}

// evicted notes that a body is not cached any more. Its memory is used again if the body that it
// leaves for fits in it, with at most a quarter of that to spare, and no answer ever sent it.
func (s *bodyShard) evicted(b *cachedBody) {
	b.Evict()
	if has := cap(b.Body); !b.lent && s.wanted <= has && has <= s.wanted+s.wanted/4 {
		s.spare, b.Body = b.Body[:0], nil
	}
}
