package index

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hdqs/snapshot"
)

// scanNewest lists the rows that a query with Latest selects, without Limit and Offset, by
// comparing decoded values row by row. It is the meaning of Latest, written as plainly as possible.
func scanNewest(seg *snapshot.Segment, o *Options, q *Query) ([]uint32, error) {
	var passing Page
	if err := Scan(seg, &Query{Filters: q.Filters, Limit: math.MaxInt}, &passing); err != nil {
		return nil, err
	}
	column := func(name string) (col *snapshot.Column, at func(row uint32) uint32) {
		col, _ = seg.Column(name)
		return col, func(row uint32) uint32 {
			if col.Group != nil {
				return uint32(col.Group.Codes.At(row))
			}
			return row
		}
	}
	rows := listRanges(passing.Ranges)
	series := make([]string, len(rows))
	for _, name := range o.Series {
		col, at := column(name)
		for i, row := range rows {
			switch at := at(row); {
			case col.IsNull(at):
				series[i] += "null,"
			case col.Kind == snapshot.Text || col.Kind == snapshot.Enum:
				series[i] += strconv.Quote(col.Text(at)) + ","
			default:
				series[i] += strconv.FormatInt(col.Int(at), 10) + ","
			}
		}
	}
	type period struct{ end, start int64 }
	periods, newest := make([]period, len(rows)), map[string]period{}
	ends, endAt := column(o.PeriodEnd)
	starts, startAt := column(o.PeriodStart)
	for i, row := range rows {
		p := period{math.MaxInt64, math.MinInt64} // nulls
		if at := endAt(row); !ends.IsNull(at) {
			p.end = ends.Int(at)
		}
		if at := startAt(row); !starts.IsNull(at) {
			p.start = starts.Int(at)
		}
		have, has := newest[series[i]]
		if !has || p.end > have.end || p.end == have.end && p.start > have.start {
			newest[series[i]] = p
		}
		periods[i] = p
	}
	var kept []uint32
	for i, row := range rows {
		if periods[i] == newest[series[i]] {
			kept = append(kept, row)
		}
	}
	return kept, nil
}

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

// TestNewestOfRandomTables asks random tables, which are in no order, for the newest rows. Series
// and periods are of random columns.
func TestNewestOfRandomTables(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	sizes := []int{0, 1, 2, 64, 65, 500, 4097, 66_000, 131_200}
	for i := range 3 * len(sizes) {
		rows := sizes[i%len(sizes)]
		queries := min(60, 10+300_000/(rows+1))
		if testing.Short() {
			if queries = min(8, 2+10_000/(rows+1)); i >= 7 {
				break
			}
		}
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		seg := newRandomTable(r, rows).segment(t)
		o := Options{CacheBytes: []int{0, -1, 1 << 17}[i%3]}
		periods := []string{"time", "sorted_time", "clustered_time", "scattered_time"}
		o.PeriodStart, o.PeriodEnd = periods[r.IntN(4)], periods[r.IntN(4)]
		columns := seg.Columns()
		for range 1 + r.IntN(4) {
			if c := columns[r.IntN(len(columns))]; c.Kind != snapshot.Decimal && !strings.HasSuffix(c.Name, "big") {
				o.Series = append(o.Series, c.Name)
			}
		}
		if len(o.Series) == 0 {
			o.Series = []string{"big"}
		}
		x, err := OpenWith(seg, o)
		if err != nil {
			t.Fatalf("seed %d table %d: %v", seed, i, err)
		}
		for range queries {
			if _, err := compareNewest(x, seg, &o, randomQuery(r, seg), r); err != nil {
				t.Fatalf("seed %d table %d of %d rows: %v", seed, i, rows, err)
			}
		}
	}
}

// seriesTable is a table like real ones: sorted by place, kind and date, with several makers of
// figures for some places, null ends, dates out of order, and rows of the same period.
func seriesTable(r *rand.Rand, rows int, garbled bool) *snapshot.TableData {
	type row struct {
		place, maker, kind, start, end int
		number                         int64
	}
	places := 1 + r.IntN(1+rows/[]int{1, 5, 50, 2000}[r.IntN(4)])
	disorder := []int{0, 100, 3}[r.IntN(3)] // one row in so many has an end out of order
	all := make([]row, rows)
	for i := range all {
		one := row{place: r.IntN(places), kind: r.IntN(3), start: r.IntN(60), number: r.Int64N(1000)}
		if one.place%7 == 0 {
			one.maker = r.IntN(3)
		}
		one.end = one.start + 1
		if disorder > 0 && r.IntN(disorder) == 0 {
			one.end = one.start + r.IntN(20)
		}
		all[i] = one
	}
	if !garbled {
		slices.SortFunc(all, func(a, b row) int {
			return slices.Compare([]int{a.place, a.kind, a.start, a.maker}, []int{b.place, b.kind, b.start, b.maker})
		})
	}
	const none = 70 // the end of an open period
	openOne := r.IntN(2) == 0
	place := snapshot.GroupData{Name: "place", Tuples: 3 * places}
	period := snapshot.GroupData{Name: "period", Tuples: 60 * (none + 1)}
	kind := snapshot.ColumnData{Name: "kind", Kind: snapshot.Enum, Values: []string{"a", "b", "c"}, Index: true}
	number := snapshot.ColumnData{Name: "number", Kind: snapshot.Int}
	for _, one := range all {
		if openOne && r.IntN(40) == 0 {
			one.end = none
		}
		place.Codes = append(place.Codes, uint32(3*one.place+one.maker))
		period.Codes = append(period.Codes, uint32(one.start*(none+1)+min(one.end, none)))
		kind.Codes, number.Ints = append(kind.Codes, uint32(one.kind)), append(number.Ints, one.number)
	}
	var region, code, maker []uint32
	for i := range 3 * places {
		region, code = append(region, uint32(i/3*20/places)), append(code, uint32(i/3))
		maker = append(maker, uint32(i%3))
	}
	place.Columns = []snapshot.ColumnData{
		{Name: "region", Kind: snapshot.Text, Codes: region, Values: numbered("C%02d", 20)},
		{Name: "place", Kind: snapshot.Text, Codes: code, Values: numbered("P%06d", places)},
		{Name: "maker", Kind: snapshot.Text, Codes: maker, Values: []string{"", "x", "y"}},
	}
	starts, ends := make([]int64, period.Tuples), make([]int64, period.Tuples)
	for i := range starts {
		starts[i], ends[i] = int64(i/(none+1)), int64(i%(none+1))
		if ends[i] == none {
			ends[i] = snapshot.NullInt
		}
	}
	period.Columns = []snapshot.ColumnData{
		{Name: "start", Kind: snapshot.Time, Ints: starts}, {Name: "end", Kind: snapshot.Time, Ints: ends},
	}
	return &snapshot.TableData{
		Name: "series", Rows: rows,
		Groups: []snapshot.GroupData{place, period}, Columns: []snapshot.ColumnData{kind, number},
	}
}

func numbered(format string, n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf(format, i)
	}
	return texts
}

// TestNewestOfSeries asks tables like real ones for the newest rows, in order and garbled.
func TestNewestOfSeries(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
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
		seg := segmentOf(t, seriesTable(r, rows, i/len(sizes)%2 == 1))
		o := Options{Series: []string{"place", "maker", "kind"}, PeriodStart: "start", PeriodEnd: "end"}
		switch i % 4 {
		case 1:
			o.Series = []string{"kind", "region"}
		case 2:
			o.Series = []string{"place", "kind", "number"}
		}
		x, err := OpenWith(seg, o)
		if err != nil {
			t.Fatal(err)
		}
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
			if err := x.Select(&Query{Filters: q.Filters}, &passing); err != nil {
				t.Fatal(err)
			}
			if newest > 0 && newest < passing.Total {
				fewer++
			}
		}
	}
	if fewer < 10 {
		t.Errorf("only %d queries had older rows to leave out: the test shows nothing", fewer)
	}
}

// TestLastThatPass compares the search for the last rows of stretches that pass a filter with the
// last of those rows of which all were tested.
func TestLastThatPass(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 5))
	seg := segmentOf(t, seriesTable(r, 2*chunkRows, true))
	x, err := Open(seg)
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		var lazy []*predicate
		for range 1 + r.IntN(2) {
			values := []Value{{Int: r.Int64N(1000)}, {Text: "b"}}
			filters := []Filter{
				{Columns: []string{"number"}, Op: AtLeast, Value: values[0]},
				{Columns: []string{"number"}, Op: Below, Value: values[0]},
				{Columns: []string{"kind"}, Op: Equal, Value: values[1]},
			}
			lazy = append(lazy, x.prepare(&filters[r.IntN(3)], nil))
		}
		var passing, ends, tested, want, got words
		sparse := [2]int{1 << r.IntN(9), 1 << r.IntN(12)} // one row in so many
		for row := range chunkRows {
			if r.IntN(sparse[0]) == 0 {
				passing[row>>6] |= 1 << (row & 63)
			}
			if r.IntN(sparse[1]) == 0 {
				ends[row>>6] |= 1 << (row & 63)
			}
		}
		base := uint32(r.IntN(2)) << chunkBits
		for i, word := range passing {
			tested[i] = word
			for _, o := range lazy {
				tested[i] = o.testWord(base+uint32(i)<<6, tested[i])
			}
			for at := range 64 {
				passes := word>>at&1 != 0 && passesAll(lazy, base+uint32(i<<6+at))
				if passes != (tested[i]>>at&1 != 0) {
					t.Fatalf("seed %d: row %d passes alone: %t", seed, i<<6+at, passes)
				}
			}
		}
		met := uint64(r.IntN(2))
		wantMet := lastOfEach(&want, &tested, &ends, met)
		gotMet, _ := lastThatPass(&got, &passing, &ends, met, base, lazy)
		if got != want || gotMet != wantMet {
			t.Fatalf("seed %d: the rows, or whether one was met (%d), differ: want %d", seed, gotMet, wantMet)
		}
	}
}

// TestNewestShared asks a new index from several goroutines at once.
func TestNewestShared(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	seg := segmentOf(t, seriesTable(r, 20_000, false))
	o := Options{Series: []string{"place", "maker", "kind"}, PeriodStart: "start", PeriodEnd: "end"}
	queries, want := make([]*Query, 8), make([]int, 8)
	for i := range queries {
		queries[i] = randomQuery(r, seg)
		queries[i].Latest = true
		rows, err := scanNewest(seg, &o, queries[i])
		if err != nil {
			t.Fatal(err)
		}
		want[i] = len(rows)
	}
	x, err := OpenWith(seg, o)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			var p Page
			for i := range queries {
				i = (i + g) % len(queries)
				if err := x.Select(queries[i], &p); err != nil || p.Total != want[i] {
					t.Errorf("seed %d: total %d, error %v, want %d: %s", seed, p.Total, err, want[i],
						describe(queries[i]))
				}
			}
		})
	}
	wait.Wait()
}

// TestNewestOptions checks which series an index refuses, and that it refuses Latest without one.
func TestNewestOptions(t *testing.T) {
	t.Parallel()
	seg := segmentOf(t, seriesTable(rand.New(rand.NewPCG(1, 1)), 100, false))
	for _, o := range []Options{
		{Series: []string{"place", "nothing"}, PeriodStart: "start", PeriodEnd: "end"},
		{Series: []string{"place"}, PeriodStart: "start", PeriodEnd: "number"},
		{Series: []string{"place"}, PeriodEnd: "end"},
	} {
		if x, err := OpenWith(seg, o); err == nil || x != nil {
			t.Errorf("%+v: error %v", o, err)
		}
	}
	x, err := Open(seg)
	if err != nil {
		t.Fatal(err)
	}
	_, passing := x.Passing(&Query{Latest: true})
	for _, err := range []error{passing, x.Select(&Query{Latest: true, Limit: 1}, new(Page))} {
		if !errors.Is(err, ErrFilter) || !strings.Contains(err.Error(), "no series") {
			t.Errorf("error %v", err)
		}
	}
}
