package index

import (
	"slices"
	"sync"
	"testing"

	"hdqs/internal/testkit"
)

// TestSelectShared runs the same few queries, half of them for the newest rows, on one Index from
// many goroutines, and compares with one that nobody shares.
func TestSelectShared(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	seg := randomSegment(t, r, 70_000)
	o := Options{
		Series: []string{"scattered_text0", "text1"}, PeriodStart: "clustered_start", PeriodEnd: "clustered_end",
	}
	alone := opened(t, seg, o)
	o.CacheBytes = 1 << 18
	x := opened(t, seg, o)
	n, rounds := 40, 20
	if testing.Short() { // enough queries that the cache is full
		n, rounds = 6, 4
	}
	queries, pages := make([]*Query, n), make([]Page, n)
	for i := range queries {
		queries[i] = randomQuery(r, seg)
		queries[i].Latest = r.IntN(2) == 0
		testkit.Must(t, alone.Select(queries[i], &pages[i]))
	}
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			var got Page
			for i := range rounds * len(queries) {
				i = (i*7 + g) % len(queries)
				if err := x.Select(queries[i], &got); err != nil {
					t.Errorf("%v", err)
				}
				if got.Total != pages[i].Total || !slices.Equal(got.Ranges, pages[i].Ranges) {
					t.Errorf("different answer under concurrency: %s", describe(queries[i]))
				}
			}
		})
	}
	wait.Wait()
	if limit := int64(1 << 18); x.cache.Bytes() > limit {
		t.Errorf("cache takes %d bytes, the limit is %d", x.cache.Bytes(), limit)
	}
}
