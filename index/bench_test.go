//go:build linux && !race

package index

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// benchSegment is a table shaped like the largest real ones: a group of nested units in sort order,
// a group of months that repeats within each unit, some enums, a flag of the unit, and numbers.
func benchSegment(tb testing.TB, rows int) *snapshot.Segment {
	if s, ok := benchSegments.Load(rows); ok {
		return s.(*snapshot.Segment)
	}
	r := rand.New(rand.NewPCG(uint64(rows), 9))
	const units, tops, months = 30_000, 75, 192
	t := &snapshot.TableData{Name: "bench", Rows: rows}
	unit := snapshot.GroupData{Name: "unit", Tuples: units, Codes: make([]uint32, rows)}
	name := snapshot.ColumnData{Name: "unit_name", Kind: snapshot.Text, Codes: make([]uint32, units)}
	code := snapshot.ColumnData{Name: "unit_code", Kind: snapshot.Text, Codes: make([]uint32, units)}
	top := snapshot.ColumnData{Name: "top_code", Kind: snapshot.Text, Codes: make([]uint32, units)}
	flag := snapshot.ColumnData{Name: "unit_flag", Kind: snapshot.Bool, Ints: make([]int64, units)}
	seen := make(map[string]bool)
	for i := range units {
		text := randomName(r)
		for seen[text] {
			text = randomName(r)
		}
		seen[text] = true
		name.Values, name.Codes[i] = append(name.Values, text), uint32(i)
		code.Values, code.Codes[i] = append(code.Values, fmt.Sprintf("T%02d%05d", i*tops/units, i)), uint32(i)
		top.Codes[i] = uint32(i * tops / units)
		flag.Ints[i] = int64(i * tops / units % 3 / 2)
	}
	for i := range tops {
		top.Values = append(top.Values, fmt.Sprintf("T%02d", i))
	}
	unit.Columns = []snapshot.ColumnData{name, code, top, flag}
	month := snapshot.GroupData{Name: "month", Tuples: months, Codes: make([]uint32, rows)}
	start := snapshot.ColumnData{Name: "start", Kind: snapshot.Time}
	for m := range months {
		start.Ints = append(start.Ints, int64(m)*2_600_000_000_000)
	}
	month.Columns = []snapshot.ColumnData{start}
	kind := snapshot.ColumnData{
		Name: "kind", Kind: snapshot.Enum, Values: []string{"a", "b", "c"},
		Codes: make([]uint32, rows), Index: true,
	}
	random5 := snapshot.ColumnData{
		Name: "random5", Kind: snapshot.Enum, Values: []string{"p", "q", "r", "s", "t"},
		Codes: make([]uint32, rows), Index: true,
	}
	number := snapshot.ColumnData{Name: "number", Kind: snapshot.Int, Ints: make([]int64, rows)}
	price := snapshot.ColumnData{Name: "price", Kind: snapshot.Decimal, Decimals: make([]snapshot.Dec, rows)}
	for i := range rows {
		u := i * units / rows
		first := (u*rows + units - 1) / units
		n := ((u+1)*rows+units-1)/units - first // rows of the unit
		unit.Codes[i] = uint32(u)
		kind.Codes[i] = uint32((i - first) * 3 / n)
		month.Codes[i] = uint32((i - first) * 3 % n * months / n)
		random5.Codes[i] = uint32(r.IntN(5))
		number.Ints[i] = r.Int64N(1 << 20)
		price.Decimals[i], _ = snapshot.ParseDec(fmt.Sprintf("%d.%02d", r.IntN(10_000), r.IntN(100)))
	}
	t.Groups = []snapshot.GroupData{unit, month}
	t.Columns = []snapshot.ColumnData{kind, random5, number, price}
	s := tables.Segment(tb, t)
	benchSegments.Store(rows, s)
	return s
}

var benchSegments sync.Map

// randomName makes up a name of two to four syllables, sometimes of two words.
func randomName(r *rand.Rand) string {
	heads, tails := []string{"B", "D", "K", "M", "N", "S", "T", "Z", "Ch", "Gh", "Al-", "É"},
		[]string{"a", "e", "i", "o", "u", "an", "ar", "en", "il", "or"}
	text := ""
	for range 1 + r.IntN(2) {
		if text != "" {
			text += " "
		}
		text += heads[r.IntN(len(heads))]
		for range 1 + r.IntN(3) {
			text += tails[r.IntN(len(tails))] + string("bdgklmnrst"[r.IntN(10)])
		}
		text += tails[r.IntN(len(tails))]
	}
	return text
}

const month = 2_600_000_000_000

var benchQueries = []struct {
	name    string
	filters []Filter
}{
	{"wide3", []Filter{number(Equal, 0, "unit_flag"), text(Equal, "b", "kind"), number(AtLeast, 40*month, "start")}},
	{"wide4", []Filter{
		number(Equal, 0, "unit_flag"), text(Equal, "b", "kind"), text(Equal, "q", "random5"),
		number(Below, 150*month, "start"),
	}},
	{"enums2", []Filter{text(Equal, "b", "kind"), text(Equal, "q", "random5")}},
	{"selective4", []Filter{
		text(Like, "t42", "top_code"), text(Equal, "b", "kind"), text(Equal, "q", "random5"),
		number(AtLeast, 40*month, "start"),
	}},
	{"one_month", []Filter{number(Equal, 40*month, "start"), number(Equal, 0, "unit_flag")}},
	{"top_months", []Filter{
		text(Like, "t42", "top_code"), number(AtLeast, 40*month, "start"),
		number(Below, 60*month, "start"),
	}},
	{"contains", []Filter{text(Contains, "mand", "unit_name")}},
}

// BenchmarkSelect asks for the exact total and a page of 10,000 rows: with predicates cached but
// not totals (cache=operands), with totals cached too, and with nothing cached.
func BenchmarkSelect(b *testing.B) {
	for _, rows := range []int{2_000_000, 10_000_000} {
		if testing.Short() && rows > 2_000_000 {
			continue
		}
		seg := benchSegment(b, rows)
		for _, query := range benchQueries {
			q := &Query{Filters: query.filters, Limit: 10_000}
			var want, got Page
			cold := opened(b, seg, Options{CacheBytes: -1})
			testkit.Must(b, cold.Select(q, &want))
			for _, mode := range []string{"operands", "totals", "cold"} {
				b.Run(fmt.Sprintf("rows=%d/query=%s/cache=%s", rows, query.name, mode), func(b *testing.B) {
					x := cold
					if mode != "cold" {
						x = opened(b, seg, Options{})
					}
					for range 2 {
						testkit.Must(b, x.Select(q, &got))
					}
					w := new(scratch)
					w.makeKeys(x, q.Filters)
					testkit.MeasureCPU(b, func() {
						if mode == "operands" {
							x.cache.forget(w.key)
						}
						testkit.Must(b, x.Select(q, &got))
					})
					if got.Total != want.Total || got.Rows != want.Rows || len(got.Ranges) != len(want.Ranges) {
						b.Fatalf("total %d, want %d", got.Total, want.Total)
					}
					b.ReportMetric(float64(got.Total), "total")
				})
			}
		}
	}
}

// BenchmarkFacets counts the rows of the queries of BenchmarkSelect by two groups and two enums.
// Predicates are cached.
func BenchmarkFacets(b *testing.B) {
	queries := append(benchQueries[:len(benchQueries):len(benchQueries)], struct {
		name    string
		filters []Filter
	}{"all", nil}, struct {
		name    string
		filters []Filter
	}{"half", []Filter{number(AtLeast, 96*month, "start")}})
	for _, rows := range []int{2_000_000, 12_000_000} {
		if testing.Short() && rows > 2_000_000 {
			continue
		}
		x := opened(b, benchSegment(b, rows), Options{})
		for _, query := range queries {
			for _, c := range []struct {
				name string
				by   []string
			}{
				{"codes", []string{"unit_code", "top_code", "kind", "random5"}},
				{"enums", []string{"kind", "random5"}},
			} {
				count := func() {
					counter, err := x.Counter(&Query{Filters: query.filters})
					testkit.Must(b, err)
					defer counter.Close()
					for _, column := range c.by {
						_, err := counter.ByCode(column)
						testkit.Must(b, err)
					}
				}
				for range 8 { // runs are found meanwhile
					count()
				}
				b.Run(fmt.Sprintf("rows=%d/query=%s/by=%s", rows, query.name, c.name), func(b *testing.B) {
					testkit.MeasureCPU(b, count)
				})
			}
		}
	}
}

// BenchmarkNewest asks for the newest rows of each series: with predicates cached but not the
// answer (cache=operands), and with nothing cached but the stretches (cache=none). "stretches"
// finds those. The series are in order, or of a column whose values alternate, so that nearly all
// rows are scattered.
func BenchmarkNewest(b *testing.B) {
	for _, rows := range []int{2_000_000, 12_000_000} {
		if testing.Short() && rows > 2_000_000 {
			continue
		}
		seg := benchSegment(b, rows)
		for _, c := range []struct {
			name   string
			series []string
		}{
			{"ordered", []string{"unit_code", "kind"}},
			{"scattered", []string{"unit_code", "kind", "random5"}},
		} {
			o := Options{Series: c.series, PeriodStart: "start", PeriodEnd: "start"}
			x := opened(b, seg, o)
			name := fmt.Sprintf("rows=%d/series=%s", rows, c.name)
			b.Run(name+"/stretches", func(b *testing.B) {
				testkit.MeasureCPU(b, func() { x.series.found.made.Store(x.series.find()) })
				b.ReportMetric(float64(x.series.found.made.Load().size()), "bytes")
			})
			for _, query := range []struct {
				name    string
				filters []Filter
			}{
				{"all", nil},
				{"top", []Filter{text(Like, "t42", "top_code")}},
				{"kind", []Filter{text(Equal, "b", "kind")}},
				{"before", []Filter{number(Below, 100*month, "start")}},
				{"before_top_kind", []Filter{
					number(Below, 100*month, "start"), text(Like, "t42", "top_code"), text(Equal, "b", "kind"),
				}},
				{"values", []Filter{text(Equal, "q", "random5"), number(AtLeast, 100_000, "number")}},
				{"number", []Filter{number(AtLeast, 500_000, "number")}},
				{"few_numbers", []Filter{number(AtLeast, 1_048_000, "number")}},
			} {
				for _, mode := range []string{"operands", "none"} {
					b.Run(fmt.Sprintf("%s/query=%s/cache=%s", name, query.name, mode), func(b *testing.B) {
						var p Page
						q := &Query{Filters: query.filters, Limit: 10_000, Latest: true}
						w := new(scratch)
						w.makeKeys(x, q.Filters)
						key := append([]byte{254}, w.key...)
						testkit.MeasureCPU(b, func() {
							if mode == "none" {
								x.Forget()
							} else {
								x.cache.forget(key)
							}
							testkit.Must(b, x.Select(q, &p))
						})
						b.ReportMetric(float64(p.Total), "total")
					})
				}
			}
		}
	}
}

// BenchmarkSeveral compares filters with 200 values with a plain filter on the same column, both
// when their predicates are known and when they must be made. "like" has the codes of 200 units of
// 30,000, "top" as many values of which 75 exist. The rows of "wide" are all over the table: half
// of its values exist.
func BenchmarkSeveral(b *testing.B) {
	seg := benchSegment(b, 2_000_000)
	r := rand.New(rand.NewPCG(1, 1))
	var units, tops, names, times []Value
	for i := range 200 {
		times = append(times, Value{Int: int64(i) * month / 2})
		unit := uint32(r.IntN(30_000))
		units = append(units, Value{Text: fmt.Sprintf("t%02d%05d", unit*75/30_000, unit)})
		tops = append(tops, Value{Text: fmt.Sprintf("T%02d", r.IntN(120))})
		names = append(names, Value{Text: units[len(units)-1].Text[:6] + "%"})
	}
	for _, c := range []struct {
		name   string
		column string
		op     Op
		values []Value
	}{
		{"like", "unit_code", Like, units},
		{"equal", "unit_code", Equal, units},
		{"top", "top_code", Like, tops},
		{"wildcards", "unit_code", Like, names},
		{"wide", "start", Equal, times},
	} {
		for _, n := range []int{1, 200} {
			f := Filter{Columns: []string{c.column}, Op: c.op, Value: c.values[0]}
			if n > 1 {
				f.Values = c.values[:n]
			}
			for _, known := range []bool{true, false} {
				x := opened(b, seg, Options{})
				b.Run(fmt.Sprintf("%s/values=%d/known=%t", c.name, n, known), func(b *testing.B) {
					var p Page
					q := &Query{Filters: []Filter{f}, Limit: 100}
					for range 3 {
						testkit.Must(b, x.Select(q, &p))
					}
					testkit.MeasureCPU(b, func() {
						if !known {
							x.Forget()
						}
						testkit.Must(b, x.Select(q, &p))
					})
					b.ReportMetric(float64(p.Total), "rows")
				})
			}
		}
	}
}
