//go:build linux && !race

package aggregate

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hdqs/index"
	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// benchTable is a table of units in order, with months that repeat within each, enums and numbers.
func benchTable(tb testing.TB, rows int) *Table {
	tb.Helper()
	r := rand.New(rand.NewPCG(uint64(rows), 9))
	const units, tops, months = 5000, 75, 192
	unit := snapshot.GroupData{Name: "unit", Tuples: units, Codes: make([]uint32, rows)}
	code := snapshot.ColumnData{Name: "unit", Kind: snapshot.Text, Codes: make([]uint32, units)}
	top := snapshot.ColumnData{Name: "top", Kind: snapshot.Text, Codes: make([]uint32, units)}
	for i := range units {
		code.Values, code.Codes[i] = append(code.Values, fmt.Sprintf("U%05d", i)), uint32(i)
		top.Codes[i] = uint32(i * tops / units)
	}
	for i := range tops {
		top.Values = append(top.Values, fmt.Sprintf("T%02d", i))
	}
	unit.Columns = []snapshot.ColumnData{code, top}
	month := snapshot.GroupData{Name: "month", Tuples: months, Codes: make([]uint32, rows)}
	start := snapshot.ColumnData{Name: "start", Kind: snapshot.Time}
	for m := range months {
		start.Ints = append(start.Ints, int64(m)*2_600_000_000_000)
	}
	month.Columns = []snapshot.ColumnData{start}
	enum := func(name string, values ...string) snapshot.ColumnData {
		return snapshot.ColumnData{
			Name: name, Kind: snapshot.Enum, Values: values, Codes: make([]uint32, rows), Index: true,
		}
	}
	kind, any5 := enum("kind", "a", "b", "c"), enum("any5", "p", "q", "r", "s", "t")
	few := snapshot.ColumnData{Name: "few", Kind: snapshot.Int, Ints: make([]int64, rows)}
	number := snapshot.ColumnData{Name: "number", Kind: snapshot.Int, Ints: make([]int64, rows)}
	for i := range rows {
		u := i * units / rows
		first := (u*rows + units - 1) / units
		n := ((u+1)*rows+units-1)/units - first
		unit.Codes[i] = uint32(u)
		kind.Codes[i] = uint32((i - first) * 3 / n)
		month.Codes[i] = uint32((i - first) * 3 % n * months / n)
		any5.Codes[i] = uint32(r.IntN(5))
		few.Ints[i] = r.Int64N(200)
		number.Ints[i] = r.Int64N(1 << 20)
	}
	seg := tables.Segment(tb, &snapshot.TableData{
		Name: "bench", Rows: rows, Groups: []snapshot.GroupData{unit, month},
		Columns: []snapshot.ColumnData{kind, any5, few, number},
	})
	x, err := index.Open(seg)
	testkit.Must(tb, err)
	t, err := Open(x, seg, Options{PeriodStart: "start"})
	testkit.Must(tb, err)
	return t
}

// BenchmarkAggregate groups all rows, wide and narrow filters.
func BenchmarkAggregate(b *testing.B) {
	t := benchTable(b, 2_000_000)
	text := func(column, value string) index.Filter {
		return index.Filter{Columns: []string{column}, Op: index.Equal, Value: index.Value{Text: value}}
	}
	for _, query := range []struct {
		name    string
		filters []index.Filter
	}{
		{"all", nil}, {"kind", []index.Filter{text("kind", "b")}}, {"any5", []index.Filter{text("any5", "q")}},
	} {
		for _, by := range []string{"", "top", "unit", "start", "any5"} {
			for _, m := range []Measure{{Func: Count}, {Sum, "few"}, {Sum, "number"}, {Latest, "few"}} {
				q := &Question{Query: &index.Query{Filters: query.filters}, Measures: []Measure{m}}
				if by != "" {
					q.Groups = []Group{{Column: by}}
				}
				answer := func() {
					_, err := t.Answer(q)
					testkit.Must(b, err)
				}
				answer()
				answer()
				b.Run(fmt.Sprintf("query=%s/by=%s/%s=%s", query.name, by, m.Func, m.Column), func(b *testing.B) {
					testkit.MeasureCPU(b, answer)
				})
			}
		}
	}
}
