package api

import (
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/valyala/fasthttp"

	"hdqs/api/encode"
	"hdqs/api/wire"
)

// bodyCache caches bodies at their second request, and lets requests wait for a body that another
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
type bodyCache struct {
	shards  [bodyShards]bodyShard
	maxBody int // the longest body that is cached
	budget  *wire.Budget
	emptied atomic.Uint64 // calls of empty
}

const (
	bodyShards = 16

	// cacheBytes is the default of Options.CacheBytes without a memory limit.
	cacheBytes = 64 << 20

	// seenKeys is how many keys that were requested once a shard remembers.
	seenKeys = 256

	// cachedOverhead is the memory of a cached body besides its bytes.
	cachedOverhead = 256
)

// bodyKey identifies a body. Two clients that accept the same coding get different bodies if one of
// them refuses uncompressed ones and the body is short.
type bodyKey struct {
	tag             entityTag
	coding          encode.Coding
	refusesIdentity bool
}

func (k *bodyKey) shard() int { return int(k.tag[3]) % bodyShards }

func (k *bodyKey) hash() uint64 {
	return (binary.LittleEndian.Uint64(k.tag[4:]) + uint64(k.coding)) * 0x9E3779B97F4A7C15
}

// finished is a body with the values for its header. It never changes, so any number of requests
// may send it at once.
type finished struct {
	body        []byte
	coding      encode.Coding
	rows, total int
	header      []HeaderField // of the answer's own
}

// send answers with the body. The response does not own its bytes.
func (f *finished) send(ctx *fasthttp.RequestCtx) {
	if f.coding != encode.Identity {
		ctx.Response.Header.SetContentEncoding(f.coding.String())
	}
	ctx.Response.SetBodyRaw(f.body)
}

// cachedBody is a cached body, or one that was rendered for waiters only.
type cachedBody struct {
	wire.Shared
	finished
	key  bodyKey
	used bool // since the clock's hand passed last
	lent bool // an answer has sent it, and may still be reading it
}

// inFlight is the entry of a body that a request is rendering.
type inFlight struct {
	key     bodyKey
	keep    bool
	emptied uint64 // of the cache when the rendering began
	waiters int
	done    chan struct{} // closed at the end; nil while nobody waits
	result  *cachedBody   // nil when there is no body to share
	err     error         // why there is no body, if that applies to the waiters too
}

type bodyShard struct {
	sync.Mutex
	found    cacheCounts
	kept     map[bodyKey]*cachedBody
	clock    []*cachedBody // the bodies in kept, in the order of the clock's hand
	hand     int
	bytes    int
	limit    int
	inFlight map[bodyKey]*inFlight
	free     []*inFlight
	seen     [seenKeys]uint64 // hashes of keys that were requested once
}

// newBodyCache returns a cache of at most so many bytes. Zero is cacheBytes; a negative number
// returns nil, which caches nothing.
func newBodyCache(bytes int64, budget *wire.Budget) *bodyCache {
	switch {
	case bytes < 0:
		return nil
	case bytes == 0:
		bytes = cacheBytes
	}
	limit := int(bytes / bodyShards)
	c := &bodyCache{maxBody: limit / 4, budget: budget}
	for i := range c.shards {
		s := &c.shards[i]
		s.limit, s.kept, s.inFlight = limit, map[bodyKey]*cachedBody{}, map[bodyKey]*inFlight{}
	}
	return c
}

// do returns the body of a key, from the cache or from another request that is rendering it. The
// caller is one of its readers and releases it. Otherwise do calls create, which answers the
// caller's own request and returns nil here; a copy of its result goes to the requests that waited
// meanwhile. They get its error if that is *Busy. Without a body or such an error, each of them
// renders its own.
func (c *bodyCache) do(key bodyKey, create func() (finished, error)) (*cachedBody, error) {
	known, own, err := c.begin(key)
	if known != nil || err != nil {
		return known, err
	}
	var result finished
	defer func() {
		if _, busy := errors.AsType[*Busy](err); busy {
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
func (c *bodyCache) begin(key bodyKey) (*cachedBody, *inFlight, error) {
	if c == nil {
		return nil, nil, nil
	}
	s := &c.shards[key.shard()]
	s.Lock()
	if b := s.kept[key]; b != nil {
		b.used, b.lent = true, true
		b.Acquire(1)
		s.found.hits++
		s.Unlock()
		return b, nil, nil
	}
	if m := s.inFlight[key]; m != nil {
		m.waiters++
		s.found.joins++
		if m.done == nil {
			m.done = make(chan struct{})
		}
		done := m.done
		s.Unlock()
		<-done
		return m.result, nil, m.err
	}
	m := s.start(key, c.emptied.Load())
	s.found.misses++
	s.Unlock()
	return nil, m, nil
}

// cacheCounts counts requests by their outcome, and the bytes that are cached.
type cacheCounts struct{ hits, joins, misses, bytes int64 }

// counts sums over the shards. It is zero without a cache.
func (c *bodyCache) counts() (all cacheCounts) {
	if c == nil {
		return all
	}
	for i := range c.shards {
		s := &c.shards[i]
		s.Lock()
		all.hits += s.found.hits
		all.joins += s.found.joins
		all.misses += s.found.misses
		all.bytes += int64(s.bytes)
		s.Unlock()
	}
	return all
}

// start adds an in-flight entry. Its body will be cached if the key was requested before.
func (s *bodyShard) start(key bodyKey, emptied uint64) *inFlight {
	m := new(inFlight)
	if n := len(s.free); n > 0 {
		m, s.free = s.free[n-1], s.free[:n-1]
	}
	hash := key.hash()
	seen := &s.seen[hash>>32%seenKeys]
	*m = inFlight{key: key, keep: *seen == hash, emptied: emptied}
	*seen = hash
	s.inFlight[key] = m
	return m
}

// end removes an in-flight entry, and gives a copy of the body to the cache and to the waiters.
// With an error the waiters get that. With neither, each renders its own.
func (c *bodyCache) end(m *inFlight, result finished, err error) {
	if m == nil {
		return
	}
	s := &c.shards[m.key.shard()]
	s.Lock()
	if result.body == nil || len(result.body) > c.maxBody && m.waiters == 0 || !m.keep && m.waiters == 0 {
		s.finish(m, nil, err)
		s.Unlock()
		return
	}
	var memory []byte
	if m.keep && len(result.body) <= c.maxBody {
		memory = s.makeRoom(len(result.body)+cachedOverhead, len(result.body))
	}
	s.Unlock()
	// Requests that arrive during the copy still find the entry.
	if memory == nil {
		memory = make([]byte, 0, len(result.body))
	}
	b := &cachedBody{key: m.key, finished: result}
	b.body = append(memory, result.body...)
	b.Init(c.budget, cap(b.body)+cachedOverhead)
	s.Lock()
	b.Acquire(m.waiters)
	b.lent = m.waiters > 0
	if b.Size() <= c.maxBody && m.emptied == c.emptied.Load() {
		s.keep(b)
	} else {
		b.Evict()
	}
	s.finish(m, b, nil)
	s.Unlock()
}

// empty drops all bodies, and those that are being rendered once they are finished.
func (c *bodyCache) empty() {
	if c == nil {
		return
	}
	c.emptied.Add(1)
	for i := range c.shards {
		s := &c.shards[i]
		s.Lock()
		for _, b := range s.clock {
			b.Evict()
		}
		clear(s.kept)
		clear(s.clock)
		s.clock, s.bytes, s.hand = s.clock[:0], 0, 0
		s.Unlock()
	}
}

// finish wakes the waiters. An entry that nobody waited for is reused.
func (s *bodyShard) finish(m *inFlight, result *cachedBody, err error) {
	delete(s.inFlight, m.key)
	if m.done == nil {
		s.free = append(s.free, m)
		return
	}
	m.result, m.err = result, err
	close(m.done)
}

// keep adds a body.
func (s *bodyShard) keep(b *cachedBody) {
	s.makeRoom(b.Size(), -1)
	s.kept[b.key] = b
	s.clock = append(s.clock, b)
	s.bytes += b.Size()
}

// makeRoom evicts bodies until there is room for another of some size: those that were not used
// since the clock's hand passed them last. It returns the memory of one of them if length bytes fit
// in it, at most a quarter of them to spare, and no answer ever sent it.
func (s *bodyShard) makeRoom(size, length int) (memory []byte) {
	for s.bytes+size > s.limit && len(s.clock) > 0 {
		s.hand %= len(s.clock)
		old := s.clock[s.hand]
		if old.used {
			old.used = false
			s.hand++
			continue
		}
		s.bytes -= old.Size()
		delete(s.kept, old.key)
		old.Evict()
		if has := cap(old.body); !old.lent && length <= has && has <= length+length/4 {
			memory, old.body = old.body[:0], nil
		}
		last := len(s.clock) - 1
		s.clock[s.hand], s.clock[last] = s.clock[last], nil
		s.clock = s.clock[:last]
	}
	return memory
}
