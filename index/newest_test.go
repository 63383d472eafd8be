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
	testkit.AtLeast(t, fewer, 10, "queries had older rows to leave out: the test shows nothing")
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

// periodTable has periods of days, months and open ends, in two series columns.
func periodTable(r *rand.Rand, rows int) *snapshot.TableData {
	const day = 86_400_000_000
	series := snapshot.ColumnData{Name: "series", Kind: snapshot.Text, Values: []string{"a", "b", "c"}}
	number := snapshot.ColumnData{Name: "number", Kind: snapshot.Int, Index: true}
	start := snapshot.ColumnData{Name: "start", Kind: snapshot.Time}
	end := snapshot.ColumnData{Name: "end", Kind: snapshot.Time}
	sorted, days := r.IntN(2) == 0, int64(1+r.IntN(3))
	for range rows {
		series.Codes = append(series.Codes, uint32(r.IntN(3)))
		number.Ints = append(number.Ints, int64(r.IntN(5)))
		from := int64(r.IntN(60)) * day
		to := from + days*day - 1
		if r.IntN(20) == 0 {
			to = snapshot.NullInt
		} else if r.IntN(20) == 0 {
			to += 10 * day
		}
		start.Ints, end.Ints = append(start.Ints, from), append(end.Ints, to)
	}
	if sorted { // as tables are
		slices.Sort(series.Codes)
	}
	return &snapshot.TableData{
		Name: "periods", Rows: rows, Columns: []snapshot.ColumnData{series, number},
		Groups: []snapshot.GroupData{periodGroup(start, end)},
	}
}

// periodGroup makes a group of columns of rows.
func periodGroup(start, end snapshot.ColumnData) snapshot.GroupData {
	g := snapshot.GroupData{Name: "period", Tuples: len(start.Ints), Columns: []snapshot.ColumnData{start, end}}
	for row := range start.Ints {
		g.Codes = append(g.Codes, uint32(row))
	}
	return g
}

// TestOverlaps compares the search with a comparison of all pairs of passing rows.
func TestOverlaps(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 7))
	found := 0
	for range 300 {
		seg := tables.Segment(t, periodTable(r, 1+r.IntN(40)))
		x := opened(t, seg, Options{
			Series: []string{"series", "number"}[r.IntN(2):], PeriodStart: "start", PeriodEnd: "end",
		})
		o := testkit.Value(x.NewOverlaps())(t)
		least := Value{Int: int64(r.IntN(5))}
		q := &Query{Limit: 100, Filters: []Filter{{Columns: []string{"number"}, Op: AtLeast, Value: least}}}
		got := testkit.Value(firstMeeting(o, q))(t)
		want := allOverlaps(t, o, seg, q)
		if (got == nil) != (len(want) == 0) || got != nil && !want[*got] {
			t.Fatalf("found %v, want one of %v", got, want)
		}
		if got != nil {
			found++
		}
	}
	if found < 50 || found > 250 {
		t.Errorf("%d of 300 tables have rows that overlap: the test says little", found)
	}
}

// firstMeeting is the first of the pairs of rows of one group, nil without any.
func firstMeeting(o *Overlaps, q *Query) (first *Overlap, err error) {
	all := func(uint32) uint32 { return 0 }
	err = o.Meeting(q, &Search{GroupOf: all, Most: 1 << 18}, func(found Overlap) bool {
		first = &found
		return false
	})
	return first, err
}

// TestOverlapsOfChunks finds the only two rows that overlap, far from each other.
func TestOverlapsOfChunks(t *testing.T) {
	const rows, day = 3 * chunkRows, 86_400_000_000
	number := snapshot.ColumnData{Name: "number", Kind: snapshot.Int, Index: true}
	start := snapshot.ColumnData{Name: "start", Kind: snapshot.Time}
	end := snapshot.ColumnData{Name: "end", Kind: snapshot.Time}
	for row := range int64(rows) {
		series, from := row/2, row%2*day
		if row == rows-1 {
			series, from = 3, day/2 // of the series of rows 6 and 7
		}
		number.Ints = append(number.Ints, series)
		start.Ints, end.Ints = append(start.Ints, from), append(end.Ints, from+day/2)
	}
	data := &snapshot.TableData{
		Name: "far", Rows: rows, Columns: []snapshot.ColumnData{number},
		Groups: []snapshot.GroupData{periodGroup(start, end)},
	}
	x := opened(t, tables.Segment(t, data), Options{
		Series: []string{"number"}, PeriodStart: "start", PeriodEnd: "end",
	})
	o := testkit.Value(x.NewOverlaps())(t)
	of := func(least int64) *Query {
		return &Query{Filters: []Filter{{Columns: []string{"number"}, Op: AtLeast, Value: Value{Int: least}}}}
	}
	if got, err := firstMeeting(o, of(2)); err != nil || got == nil || *got != (Overlap{6, rows - 1}) {
		t.Errorf("%v, %v; want rows 6 and %d", got, err, rows-1)
	}
	if got, err := firstMeeting(o, of(4)); err != nil || got != nil {
		t.Errorf("%v, %v; want none", got, err)
	}
}

// allOverlaps compares all pairs of passing rows.
func allOverlaps(t *testing.T, o *Overlaps, seg *snapshot.Segment, q *Query) map[Overlap]bool {
	t.Helper()
	var page Page
	testkit.Must(t, Scan(seg, q, &page))
	var rows []uint32
	for _, r := range page.Ranges {
		for row := r.From; row < r.To; row++ {
			rows = append(rows, row)
		}
	}
	all, keys := map[Overlap]bool{}, o.x.series.inOrder().keys
	for i, b := range rows {
		for _, a := range rows[:i] {
			p, other := o.Period(a), o.Period(b)
			same := keys.of(a) == keys.of(b)
			if same && p != other && p.From <= other.To && other.From <= p.To {
				all[Overlap{a, b}] = true
			}
		}
	}
	return all
}
