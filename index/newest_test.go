//go:build !race

package index

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// compareNewest compares Select and Passing with scanNewest, twice: the second answer may be in the
// cache. It returns the number of newest rows.
func compareNewest(x *Index, seg *snapshot.Segment, o *Options, q *Query, r *rand.Rand) (int, error) {
	q.Latest = true
	all, err := scanNewest(seg, o, q)
	if err != nil {
		return 0, err
	}
	for range 2 {
		var got Page
		if err := x.Select(q, &got); err != nil {
			return 0, err
		}
		want := all[min(q.Offset, uint64(len(all))):]
		want = want[:min(len(want), q.Limit)]
		if got.Total != len(all) || got.Rows != len(want) || !slices.Equal(listRanges(got.Ranges), want) {
			return 0, fmt.Errorf("total %d rows %d ranges %.120s, want %d, %d, %.120s: %s; series %v %s %s",
				got.Total, got.Rows, fmt.Sprint(got.Ranges), len(all), len(want), fmt.Sprint(want), describe(q),
				o.Series, o.PeriodStart, o.PeriodEnd)
		}
		if err := comparePassing(x, q, all, r); err != nil {
			return 0, fmt.Errorf("passing: %w; series %v", err, o.Series)
		}
		q.Offset /= 2
	}
	return len(all), nil
}

// TestNewestOfSeries asks tables like real ones for the newest rows, in order and garbled.
func TestNewestOfSeries(t *testing.T) {
	t.Parallel()
	seed := testkit.Seed()
	sizes := []int{1, 100, 3000, 65_536, 140_000}
	fewer := 0
	for i := range 4 * len(sizes) {
		rows := sizes[i%len(sizes)]
		queries := min(60, 8+300_000/rows)
		if testing.Short() {
			if queries = min(20, 2+20_000/rows); rows > 65_536 || i >= 2*len(sizes) {
				continue
			}
		}
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		seg := tables.Segment(t, seriesTable(r, rows, i/len(sizes)%2 == 1))
		o := Options{Series: []string{"place", "maker", "kind"}, PeriodStart: "start", PeriodEnd: "end"}
		switch i % 4 {
		case 1:
			o.Series = []string{"kind", "region"}
		case 2:
			o.Series = []string{"place", "kind", "number"}
		}
		x := opened(t, seg, o)
		for range queries {
			q := randomQuery(r, seg)
			if r.IntN(2) == 0 && len(q.Filters) > 1 { // fewer filters, more rows
				q.Filters = q.Filters[:1]
			}
			newest, err := compareNewest(x, seg, &o, q, r)
			if err != nil {
				t.Fatalf("seed %d table %d: %v", seed, i, err)
			}
			var passing Page
			testkit.Must(t, x.Select(&Query{Filters: q.Filters}, &passing))
			if newest > 0 && newest < passing.Total {
				fewer++
			}
		}
	}
	if fewer < 10 {
		t.Errorf("only %d queries had older rows to leave out: the test shows nothing", fewer)
	}
}

// TestNewestOptions checks which series an index refuses, and that it refuses Latest without one.
func TestNewestOptions(t *testing.T) {
	t.Parallel()
	seg := tables.Segment(t, seriesTable(rand.New(rand.NewPCG(1, 1)), 100, false))
	for _, o := range []Options{
		{Series: []string{"place", "nothing"}, PeriodStart: "start", PeriodEnd: "end"},
		{Series: []string{"place"}, PeriodStart: "start", PeriodEnd: "number"},
		{Series: []string{"place"}, PeriodEnd: "end"},
	} {
		if x, err := Open(seg, o); err == nil || x != nil {
			t.Errorf("%+v: error %v", o, err)
		}
	}
	x := opened(t, seg, Options{})
	_, passing := x.Passing(&Query{Latest: true})
	for _, err := range []error{passing, x.Select(&Query{Latest: true, Limit: 1}, new(Page))} {
		if !errors.Is(err, ErrFilter) || !strings.Contains(err.Error(), "no series") {
			t.Errorf("error %v", err)
		}
	}
}
