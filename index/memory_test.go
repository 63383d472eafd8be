//go:build !race

package index

import (
	"math/rand/v2"
	"testing"

	"hdqs/internal/testkit"
)

// TestFullBytes runs random queries. The memory without the cache stays below the estimate for
// their filters, and the estimate is not for more than what can be made.
func TestFullBytes(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	searched := 0
	for range 12 {
		seg := randomSegment(t, r, 1+r.IntN(5000))
		x := opened(t, seg, Options{
			Series:      []string{"scattered_text0", "text1"},
			PeriodStart: "clustered_start", PeriodEnd: "clustered_end",
		})
		idle := x.Bytes()
		var filters []Filter
		var page Page
		for range 60 {
			q := randomQuery(r, seg)
			q.Latest = r.IntN(2) == 0
			filters = append(filters, q.Filters...)
			testkit.Must(t, x.Select(q, &page))
		}
		full, used := x.FullBytes(filters), x.Bytes()-x.cache.Bytes()
		if used > idle {
			searched++
		}
		if full < used {
			t.Errorf("estimate %d, in use %d, %d of them before the first query", full, used, idle)
		}
		if full < idle || full > idle+(32<<20) {
			t.Errorf("estimate %d for an index of %d bytes", full, idle)
		}
	}
	testkit.AtLeast(t, searched, 2, "indexes have searched a dictionary: the test shows nothing")
}

// TestSetCacheBytes: a lower limit evicts, zero keeps nothing, and answers stay the same.
func TestSetCacheBytes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	seg := randomSegment(t, r, 3000)
	x := opened(t, seg, Options{})
	var queries []*Query
	var totals []int
	var page Page
	for range 100 {
		q := randomQuery(r, seg)
		testkit.Must(t, x.Select(q, &page))
		queries, totals = append(queries, q), append(totals, page.Total)
	}
	if x.cache.Bytes() == 0 {
		t.Fatal("nothing was cached")
	}
	for _, limit := range []int64{x.cache.Bytes() / 2, 0} {
		x.SetCacheBytes(limit)
		for i, q := range queries {
			if err := x.Select(q, &page); err != nil || page.Total != totals[i] {
				t.Fatalf("query %d: total %d, %v; want %d", i, page.Total, err, totals[i])
			}
			if n := x.cache.Bytes(); n > limit {
				t.Fatalf("%d bytes are cached, the limit is %d", n, limit)
			}
		}
	}
}

// TestAllocations checks the allocations of a query: zero with predicates and totals cached;
// without totals, the new totals, a slice of them, and a cache entry with its key, whatever the
// number of rows.
func TestAllocations(t *testing.T) {
	seg := randomSegment(t, rand.New(rand.NewPCG(1, 7)), 200_000)
	x := opened(t, seg, Options{})
	q := &Query{Limit: 10_000, Filters: []Filter{
		text(Contains, "a", "scattered_text0", "clustered_text1"), number(AtLeast, 0, "level"),
		text(Contains, "%", "enum"),
	}}
	var p Page
	for range 3 {
		testkit.Must(t, x.Select(q, &p))
	}
	if p.Total < 1000 {
		t.Fatalf("total %d, too few for a meaningful test", p.Total)
	}
	ask := func() {
		testkit.Must(t, x.Select(q, &p))
	}
	if n := testing.AllocsPerRun(50, ask); n > 0 {
		t.Errorf("%v allocations with everything cached", n)
	}
	w := new(scratch)
	w.makeKeys(x, q.Filters)
	if n := testing.AllocsPerRun(50, func() {
		x.cache.forget(w.key)
		ask()
	}); n > 4 {
		t.Errorf("%v allocations with predicates cached", n)
	}
}
