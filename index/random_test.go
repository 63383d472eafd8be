package index

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// opened is the index of a segment.
func opened(tb testing.TB, seg *snapshot.Segment, o Options) *Index {
	tb.Helper()
	return testkit.Value(Open(seg, o))(tb)
}

// randomSegment has texts of few characters, so that patterns match often.
func randomSegment(tb testing.TB, r *rand.Rand, rows int) *snapshot.Segment {
	tb.Helper()
	text := func() string { return randomText(r, textLetters, 8) }
	return tables.Segment(tb, tables.Random(r, rows, text, "sorted", "clustered", "scattered"))
}

// randomQuery has up to five filters, with values that occur, nearly occur or cannot occur.
func randomQuery(r *rand.Rand, seg *snapshot.Segment) *Query {
	q := &Query{Limit: r.IntN(300), Offset: uint64(r.IntN(500))}
	switch r.IntN(8) {
	case 0:
		q.Limit = 0
	case 1:
		q.Offset = math.MaxUint64 - uint64(r.IntN(3))
	case 2, 3:
		q.Limit, q.Offset = 100_000, uint64(r.IntN(seg.Rows()+10))
	case 4:
		q.Offset = 0
	}
	for range r.IntN(5) {
		f := randomFilter(r, seg)
		if r.IntN(4) == 0 {
			f.Values = randomValues(r, seg, &f)
		}
		q.Filters = append(q.Filters, f)
		if f.Op == AtLeast && r.IntN(2) == 0 {
			upper := Filter{Columns: f.Columns, Op: Below, Value: randomValue(r, columnOf(seg, f.Columns[0]), Below)}
			q.Filters = append(q.Filters, upper)
		}
	}
	return q
}

// randomValues draws several values for a filter: its own, and others that suit its columns and op.
func randomValues(r *rand.Rand, seg *snapshot.Segment, f *Filter) []Value {
	values := []Value{f.Value}
	for range []int{1, 3, 9, 40}[r.IntN(4)] {
		col := columnOf(seg, f.Columns[r.IntN(len(f.Columns))])
		values = append(values, randomValue(r, col, f.Op))
	}
	return values
}

// randomFilter is of any column or, one in eight, of one without a dictionary if there is one.
func randomFilter(r *rand.Rand, seg *snapshot.Segment) Filter {
	columns := seg.Columns()
	col := columns[r.IntN(len(columns))]
	raw := slices.DeleteFunc(slices.Clone(columns), (*snapshot.Column).Coded)
	if len(raw) > 0 && r.IntN(8) == 0 {
		col = raw[r.IntN(len(raw))]
	}
	f := Filter{Columns: []string{col.Name}}
	if r.IntN(4) == 0 {
		for range r.IntN(3) {
			other := columns[r.IntN(len(columns))]
			if isTextual(other) == isTextual(col) &&
				(other.Kind == snapshot.Decimal) == (col.Kind == snapshot.Decimal) {
				f.Columns = append(f.Columns, other.Name)
			}
		}
	}
	f.Op = []Op{Equal, AtLeast, Below, AtLeastOrNull}[r.IntN(4)]
	if isTextual(col) {
		f.Op = []Op{Equal, Like, Contains}[r.IntN(3)]
	}
	f.Value = randomValue(r, col, f.Op)
	return f
}

// columnOf is a column that a segment has.
func columnOf(seg *snapshot.Segment, name string) *snapshot.Column {
	c, _ := seg.Column(name)
	return c
}

func isTextual(c *snapshot.Column) bool { return c.Kind == snapshot.Text || c.Kind == snapshot.Enum }

// randomValue suits a column and an op.
func randomValue(r *rand.Rand, col *snapshot.Column, op Op) (v Value) {
	at := uint32(0)
	if col.Len() > 0 {
		at = uint32(r.IntN(col.Len()))
	}
	switch {
	case isTextual(col):
		if col.Len() > 0 {
			v.Text = col.Text(at)
		}
		if runes := []rune(v.Text); len(runes) > 0 && r.IntN(2) == 0 {
			// A part of a text that occurs, in another case, perhaps with a wildcard.
			from := r.IntN(len(runes))
			runes = runes[from : from+1+r.IntN(len(runes)-from)]
			if r.IntN(3) == 0 {
				runes[r.IntN(len(runes))] = '_'
			}
			v.Text = strings.ToUpper(string(runes))
			if op == Like && r.IntN(2) == 0 {
				v.Text = "%" + v.Text + "%"
			}
		} else if r.IntN(2) == 0 || op != Equal && r.IntN(2) == 0 {
			v.Text = randomText(r, patternLetters, 4)
		}
		if r.IntN(50) == 0 {
			v.Text += "\x00"
		}
	case col.Kind == snapshot.Decimal:
		v = randomDecimal(r, col, at)
	default:
		if col.Len() > 0 {
			v.Int = col.Int(at)
		}
		switch r.IntN(10) {
		case 0:
			v.Beyond = int8(r.IntN(3) - 1)
		case 1:
			v.Int = []int64{0, math.MinInt64, math.MaxInt64, -1}[r.IntN(4)]
		case 2:
			v.Int += int64(r.IntN(3) - 1)
		}
	}
	return v
}

func randomDecimal(r *rand.Rand, col *snapshot.Column, at uint32) (v Value) {
	exact := new(big.Rat)
	if col.Len() > 0 && !col.IsNull(at) {
		exact.SetString(col.DecString(col.Dec(at)))
	}
	if r.IntN(4) == 0 {
		exact.Add(exact, big.NewRat(int64(r.IntN(3)-1), 1_000_000_000_000))
	}
	if r.IntN(2) == 0 {
		if r.IntN(20) == 0 {
			exact.SetString([]string{"1e40", "-1e40", "1e-40", "0"}[r.IntN(4)])
		}
		v.Exact = exact
		return v
	}
	v.Float, _ = exact.Float64()
	switch r.IntN(12) {
	case 0:
		v.Float = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)}[r.IntN(5)]
	case 1:
		v.Float = math.Nextafter(v.Float, math.Inf(r.IntN(2)*2-1))
	}
	return v
}

// describe prints a query so that a failure can be repeated.
func describe(q *Query) string {
	text := fmt.Sprintf("offset %d limit %d", q.Offset, q.Limit)
	for _, f := range q.Filters {
		v := f.Value
		text += fmt.Sprintf("; %v op %d text %q int %d beyond %d float %v exact %v", f.Columns, f.Op, v.Text, v.Int,
			v.Beyond, v.Float, v.Exact)
		if len(f.Values) > 0 {
			text += fmt.Sprintf(" in place of it any of %+v", f.Values)
		}
	}
	return text
}

func listRanges(ranges []Range) []uint32 {
	var rows []uint32
	for _, r := range ranges {
		for row := r.From; row < r.To; row++ {
			rows = append(rows, row)
		}
	}
	return rows
}

// randomText draws from few characters, so that patterns match often. Some take more than a byte,
// or another number of bytes in lower case.
func randomText(r *rand.Rand, letters string, longest int) string {
	runes := []rune(letters)
	var b strings.Builder
	for range r.IntN(longest + 1) {
		b.WriteRune(runes[r.IntN(len(runes))])
	}
	return b.String()
}

// compare runs Scan and Select and returns a difference as an error.
func compare(x *Index, seg *snapshot.Segment, q *Query, got, want *Page) error {
	if err := Scan(seg, q, want); err != nil {
		return fmt.Errorf("scan: %w: %s", err, describe(q))
	}
	if err := x.Select(q, got); err != nil {
		return fmt.Errorf("select: %w: %s", err, describe(q))
	}
	if got.Total != want.Total || got.Rows != want.Rows || !slices.Equal(got.Ranges, want.Ranges) {
		return fmt.Errorf("total %d rows %d ranges %.120s, want %d, %d, %.120s: %s", got.Total, got.Rows,
			fmt.Sprint(got.Ranges),
			want.Total, want.Rows, fmt.Sprint(want.Ranges), describe(q))
	}
	return nil
}

func text(op Op, value string, columns ...string) Filter {
	return Filter{Columns: columns, Op: op, Value: Value{Text: value}}
}

func number(op Op, value int64, columns ...string) Filter {
	return Filter{Columns: columns, Op: op, Value: Value{Int: value}}
}

const (
	textLetters    = "abAB éÉ語İ\\%_"
	patternLetters = "abAB éÉ語i\\\\%%__"
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
				testkit.Is(t, x.Select(queries[i], &got), nil, "Select")
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
