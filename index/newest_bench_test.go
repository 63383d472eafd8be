//go:build linux && !race

package index

import (
	"fmt"
	"testing"

	"hdqs/internal/testkit"
)

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
