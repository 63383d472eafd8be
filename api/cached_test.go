//go:build !race

package api

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/encode"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/api/wire"
)

// TestCacheLimit checks under random load that memory stays below the limit, that frequently used
// bodies stay, and that no body longer than a quarter of a shard is cached.
func TestCacheLimit(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	c := list.NewBodyCache(limit, wire.NewBudget(0))
	r := rand.New(rand.NewPCG(1, 2))
	frequentHits := 0
	rounds := trials(200_000, 100_000)
	for i := range rounds {
		n := r.IntN(10)
		if i%4 > 0 {
			n = r.IntN(20_000)
		}
		got, m, _ := c.Begin(testKey(n))
		if n < 10 && got != nil {
			frequentHits++
		}
		if got != nil && (len(got.Body) < 8 || got.Rows != n || len(got.Body) > c.MaxBody) {
			t.Fatalf("body %d: %d bytes, %d rows", n, len(got.Body), got.Rows)
		}
		c.End(m, list.Finished{Body: make([]byte, 8+n%100*200), Rows: n}, nil)
	}
	sum := 0
	for i := range c.Shards {
		s := &c.Shards[i]
		bytes := 0
		for key, k := range s.Kept {
			bytes += k.Size()
			if key != k.Key {
				t.Errorf("found the entry of key %v under key %v", k.Key, key)
			}
		}
		if bytes != s.Bytes || bytes > s.Limit || len(s.Clock) != len(s.Kept) {
			t.Errorf("shard %d: %d bytes, counted %d, limit %d; %d in the clock, %d in the map", i, bytes, s.Bytes,
				s.Limit, len(s.Clock), len(s.Kept))
		}
		sum += bytes
	}
	if sum < limit/2 || frequentHits < rounds/4*9/10 {
		t.Errorf("%d bytes are cached; %d of %d requests for the ten most requested bodies were hits", sum,
			frequentHits, rounds/4)
	}
}

// TestCachedAnswersAreTheSame compares the answers of servers with and without a cache, several
// times each, in all codings.
func TestCachedAnswersAreTheSame(t *testing.T) {
	t.Parallel()
	with, without := sampleServer(t, state.Options{}, 500), sampleServer(t, state.Options{CacheBytes: -1}, 500)
	for i := trials(0, 2); i < len(contract.Endpoints); i += trials(1, 3) {
		for _, query := range []string{"", "&limit=2&offset=1", "&limit=0", "&output_format=csv", "&offset=1000"} {
			target := contract.Endpoints[i].Path + "?app_identifier=" + goodIdentifier + query
			for _, accept := range []string{"identity", "gzip", "zstd", "gzip, identity;q=0"} {
				header := []reply.HeaderField{{Name: "Accept-Encoding", Value: accept}}
				want := without.Answer("GET", target, header)
				for turn := range 3 {
					got := with.Answer("GET", target, header)
					if got.Status != want.Status || !bytes.Equal(got.Body, want.Body) && accept == "identity" ||
						fmt.Sprint(got.Header) != fmt.Sprint(want.Header) && accept == "identity" {
						t.Fatalf("%s, %s, turn %d:\n got %v\nwant %v", target, accept, turn, got.Header, want.Header)
					}
					if accept != "identity" && !bytes.Equal(plainBody(t, got), plainBody(t, want)) {
						t.Fatalf("%s, %s, turn %d: the decoded bodies differ", target, accept, turn)
					}
				}
			}
		}
	}
}

// TestAllocOfMisses checks that bodies which are evicted unused leave their memory to the next
// ones: bodies of similar length, each requested twice, and so cached and never given out.
func TestAllocOfMisses(t *testing.T) {
	const limit = list.BodyShards * 1 << 20
	c := list.NewBodyCache(limit, wire.NewBudget(0))
	body := make([]byte, 110_000)
	r := rand.New(rand.NewPCG(1, 2))
	copied := uint64(0)
	miss := func() {
		var id [32]byte
		for i := range id {
			id[i] = byte(r.Uint32())
		}
		key, length := list.BodyKey{Tag: reply.NewEntityTag(id), Coding: encode.Gzip}, 90_000+r.IntN(20_000)
		for range 2 {
			known, m, _ := c.Begin(key)
			if known != nil {
				t.Fatal("a body was cached at its first request")
			}
			c.End(m, list.Finished{Body: body[:length]}, nil)
		}
		copied += uint64(length)
	}
	var before, after runtime.MemStats
	for range 2000 {
		miss()
	}
	copied = 0
	runtime.ReadMemStats(&before)
	for range 4000 {
		miss()
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > copied/10 {
		t.Errorf("%d bytes were allocated for %d bytes of bodies", allocated, copied)
	}
}
