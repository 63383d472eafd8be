//go:build !race

package list

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"hdqs/api/encode"
	"hdqs/api/reply"
	"hdqs/api/wire"
)

// TestAllocOfMisses checks that bodies which are evicted unused leave their memory to the next
// ones: bodies of similar length, each requested twice, and so cached and never given out.
func TestAllocOfMisses(t *testing.T) {
	const limit = bodyShards * 1 << 20
	c := newBodyCache(limit, wire.NewBudget(0))
	body := make([]byte, 110_000)
	r := rand.New(rand.NewPCG(1, 2))
	copied := uint64(0)
	miss := func() {
		var id [32]byte
		for i := range id {
			id[i] = byte(r.Uint32())
		}
		key, length := bodyKey{Tag: reply.NewEntityTag(id), Coding: encode.Gzip}, 90_000+r.IntN(20_000)
		for range 2 {
			known, m, _ := c.begin(key)
			if known != nil {
				t.Fatal("a body was cached at its first request")
			}
			c.end(m, Finished{Body: body[:length]}, nil)
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
