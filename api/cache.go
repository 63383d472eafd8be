package api

import (
	"encoding/binary"
	"sync"

	"github.com/valyala/fasthttp"

	"hdqs/api/encode"
)

// bodyCache keeps bodies that were asked for twice, and lets requests for a body in the making wait for it. Its key is the entity tag, which is made
// of the table's content and the canonical query: so what it holds is never out of date, and a swap leaves what other tables answered in place.
// What a swap has made useless is asked for no more and goes first.
//
// Bodies that are sent in parts are not for it: rendering them costs no more than reading them from where a cache would keep them.
//
// A body outlives its place in the cache while clients read it: then it counts as bytes in flight, once for all of them.
type bodyCache struct {
	shards  [bodyShards]bodyShard
	longest int // of the bodies kept
	flight  *flight
}

const (
	bodyShards = 16

	// cacheBytes is how much is kept when Options do not say.
	cacheBytes = 64 << 20

	// seenKeys is how many keys a shard remembers to have been asked for once.
	seenKeys = 256

	// keptOverhead is the memory a kept body takes beside its bytes.
	keptOverhead = 256
)

// bodyKey names a body. Two clients that take the same coding may get different bodies when one of them refuses short ones as they are.
type bodyKey struct {
	tag             entityTag
	coding          encode.Coding
	refusesIdentity bool
}

func (k *bodyKey) shard() int { return int(k.tag[3]) % bodyShards }

func (k *bodyKey) hash() uint64 {
	return (binary.LittleEndian.Uint64(k.tag[4:]) + uint64(k.coding)) * 0x9E3779B97F4A7C15
}

// finished is a body with what its header says. It never changes, so any number of requests may send it at once.
type finished struct {
	body        []byte
	coded       bool
	rows, total int
}

// send answers with the body. The response does not own its bytes.
func (f *finished) send(ctx *fasthttp.RequestCtx, coding encode.Coding) {
	if f.coded {
		ctx.Response.Header.SetContentEncoding(coding.String())
	}
	ctx.Response.SetBodyRaw(f.body)
}

// making is a body in the making. Its maker leaves it, whatever happens.
type making struct {
	key    bodyKey
	keep   bool
	awaits int           // requests that wait for it
	done   chan struct{} // closed when it is made; nil while nobody waits
	result *sharedBody   // nil when there is none to share
	err    error         // why there is none, if that is true of those who wait too
}

type bodyShard struct {
	sync.Mutex
	found  cacheCounts
	kept   map[bodyKey]*sharedBody
	clock  []*sharedBody // in the order of a clock's hand
	hand   int
	bytes  int
	limit  int
	making map[bodyKey]*making
	free   []*making
	seen   [seenKeys]uint64 // hashes of keys asked for once
}

// newBodyCache keeps at most so many bytes: 0 stands for cacheBytes, and below 0 there is no cache, which is nil. What it drops before its readers are
// done is counted in f.
func newBodyCache(bytes int64, f *flight) *bodyCache {
	switch {
	case bytes < 0:
		return nil
	case bytes == 0:
		bytes = cacheBytes
	}
	limit := int(bytes / bodyShards)
	c := &bodyCache{longest: limit / 4, flight: f}
	for i := range c.shards {
		s := &c.shards[i]
		s.limit, s.kept, s.making = limit, map[bodyKey]*sharedBody{}, map[bodyKey]*making{}
	}
	return c
}

// enter gives the body of a key, waiting for it when it is being made; the caller is its reader then, and releases it. Without one, the caller makes it:
// it then leaves what it got here, if that is not nil either. An error is the maker's.
func (c *bodyCache) enter(key bodyKey) (*sharedBody, *making, error) {
	if c == nil {
		return nil, nil, nil
	}
	s := &c.shards[key.shard()]
	s.Lock()
	if k := s.kept[key]; k != nil {
		k.used = true
		k.readers.Add(1)
		s.found.hits++
		s.Unlock()
		return k, nil, nil
	}
	if m := s.making[key]; m != nil {
		m.awaits++
		s.found.joins++
		if m.done == nil {
			m.done = make(chan struct{})
		}
		done := m.done
		s.Unlock()
		<-done
		return m.result, nil, m.err
	}
	m := s.begin(key)
	s.found.misses++
	s.Unlock()
	return nil, m, nil
}

// cacheCounts are what became of requests, and how much is kept.
type cacheCounts struct{ hits, joins, misses, bytes int64 }

// counts sums over the shards; a cache that is not there has none.
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

// begin notes that the caller makes a body, and whether it was asked for before.
func (s *bodyShard) begin(key bodyKey) *making {
	m := new(making)
	if n := len(s.free); n > 0 {
		m, s.free = s.free[n-1], s.free[:n-1]
	}
	hash := key.hash()
	seen := &s.seen[hash>>32%seenKeys]
	*m = making{key: key, keep: *seen == hash}
	*seen = hash
	s.making[key] = m
	return m
}

// leave ends the making of a body and gives a copy of it to those who wait. With an error they get that. With neither, they make their own.
func (c *bodyCache) leave(m *making, result *finished, err error) {
	if m == nil {
		return
	}
	s := &c.shards[m.key.shard()]
	s.Lock()
	if result == nil || len(result.body) > c.longest && m.awaits == 0 || !m.keep && m.awaits == 0 {
		s.end(m, nil, err)
		s.Unlock()
		return
	}
	s.Unlock()
	// Whoever comes during the copying still finds the body in the making.
	k := &sharedBody{key: m.key, finished: *result}
	k.body = append(make([]byte, 0, len(result.body)), result.body...)
	s.Lock()
	k.readers.Store(int64(m.awaits))
	if k.size() <= c.longest {
		s.keep(k, c.flight)
	} else {
		k.drop(c.flight)
	}
	s.end(m, k, nil)
	s.Unlock()
}

// end tells those who wait. What nobody waited for is used again.
func (s *bodyShard) end(m *making, result *sharedBody, err error) {
	delete(s.making, m.key)
	if m.done == nil {
		s.free = append(s.free, m)
		return
	}
	m.result, m.err = result, err
	close(m.done)
}

// keep adds a body, and drops those that were not used since the hand passed them last until there is room.
func (s *bodyShard) keep(k *sharedBody, f *flight) {
	for s.bytes+k.size() > s.limit && len(s.clock) > 0 {
		s.hand %= len(s.clock)
		old := s.clock[s.hand]
		if old.used {
			old.used = false
			s.hand++
			continue
		}
		s.bytes -= old.size()
		delete(s.kept, old.key)
		old.drop(f)
		last := len(s.clock) - 1
		s.clock[s.hand], s.clock[last] = s.clock[last], nil
		s.clock = s.clock[:last]
	}
	s.kept[k.key] = k
	s.clock = append(s.clock, k)
	s.bytes += k.size()
}
