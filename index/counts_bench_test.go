//go:build linux && !race

package index

import (
	"fmt"
	"testing"

	"hdqs/internal/testkit"
)

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
