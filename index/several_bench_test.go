//go:build linux && !race

package index

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hdqs/internal/testkit"
)

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
