//go:build linux

package index

import (
	"fmt"
	"testing"
)

// BenchmarkFacets counts the rows of the queries of BenchmarkSelect by all columns of codes at
// once, and by the years of a group that is not in row order. Predicates are cached.
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
		x, err := Open(benchSegment(b, rows))
		if err != nil {
			b.Fatal(err)
		}
		for _, query := range queries {
			for _, c := range []struct {
				name string
				by   []By
			}{
				{"codes", []By{
					{Column: "unit_code"},
					{Column: "top_code"},
					{Column: "unit_flag"},
					{Column: "kind"},
					{Column: "random5"},
				}},
				{"year", []By{{"start", Year}}},
			} {
				q := &Query{Filters: query.filters}
				for range 8 { // runs are found meanwhile
					if _, err := x.Counts(q, c.by...); err != nil {
						b.Fatal(err)
					}
				}
				b.Run(fmt.Sprintf("rows=%d/query=%s/by=%s", rows, query.name, c.name), func(b *testing.B) {
					measure(b, func() {
						if _, err := x.Counts(q, c.by...); err != nil {
							b.Fatal(err)
						}
					})
				})
			}
		}
	}
}
