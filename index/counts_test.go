//go:build !race

package index

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hdqs/internal/testkit"
)

// TestCountStrategies compares what each strategy counts with the codes of the rows that Scan
// finds, read one by one, for rows of every shape.
func TestCountStrategies(t *testing.T) {
	t.Parallel()
	seed, tables := testkit.Seed(), 0
	for i, rows := range []int{64, 3000, 65_537, 140_000} {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		seg := randomSegment(t, r, rows)
		x := opened(t, seg, Options{})
		var counted countScratch
		for range 6 {
			q := randomQuery(r, seg)
			passing := testkit.Value(x.Passing(q))(t)
			counted.collect(passing)
			var page Page
			testkit.Must(t, Scan(seg, &Query{Filters: q.Filters, Limit: math.MaxInt}, &page))
			found := listRanges(page.Ranges)
			for name, c := range x.columns {
				if c.space == nil {
					continue
				}
				want := countCodes(c.space, found)
				for _, by := range []strategy{byRows, byPostings, byRuns} {
					if by == byPostings && (!c.space.indexed || c.space.postings.Sorted()) {
						continue
					}
					if by == byRuns {
						if c.space.Runs() == nil {
							continue
						}
						tables++
					}
					testkit.Must(t, counted.count(x, c.space, by))
					if !slices.Equal(counted.counts, want) {
						t.Fatalf("seed %d: strategy %d gives %v by %s, want %v: %s", seed, by, counted.counts, name,
							want, describe(q))
					}
				}
			}
		}
	}
	if tables == 0 {
		t.Errorf("seed %d: no column has runs", seed)
	}
}

// countCodes counts rows by their codes, one by one.
func countCodes(s *Space, rows []uint32) []uint32 {
	counts := make([]uint32, s.size)
	for _, row := range rows {
		counts[s.codes.At(row)]++
	}
	return counts
}
