package index

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

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
