//go:build !race

package index

import (
	"math/rand/v2"
	"testing"

	"hdqs/internal/testkit"
)

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
