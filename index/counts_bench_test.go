//go:build linux && !race

package index

import (
	"fmt"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
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
		x, err := Open(benchSegment(b, rows))
		if err != nil {
			b.Fatal(err)
		}
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
					if err != nil {
						b.Fatal(err)
					}
					defer counter.Close()
					for _, column := range c.by {
						if _, err := counter.ByCode(column); err != nil {
							b.Fatal(err)
						}
					}
				}
				for range 8 { // runs are found meanwhile
					count()
				}
				b.Run(fmt.Sprintf("rows=%d/query=%s/by=%s", rows, query.name, c.name), func(b *testing.B) {
					measure(b, count)
				})
			}
		}
	}
}

// BenchmarkFacetsRoaring does the work of by=enums with roaring: the rows that pass and the
// postings are bitmaps before it begins, and the number of rows that both have is all that is asked
// for.
func BenchmarkFacetsRoaring(b *testing.B) {
	for _, rows := range []int{2_000_000, 12_000_000} {
		if testing.Short() && rows > 2_000_000 {
			continue
		}
		x, err := Open(benchSegment(b, rows))
		if err != nil {
			b.Fatal(err)
		}
		for _, query := range benchQueries {
			passing, err := x.Passing(&Query{Filters: query.filters})
			if err != nil {
				b.Fatal(err)
			}
			pass := roaring.New()
			var chunk ChunkRows
			for k := range passing.Chunks() {
				passing.Read(k, &chunk)
				for _, r := range chunk.Ranges(nil) {
					pass.AddRange(uint64(r.From), uint64(r.To))
				}
			}
			pass.RunOptimize()
			var postings []*roaring.Bitmap
			for _, name := range []string{"kind", "random5"} {
				p, _ := x.columns[name].col.Postings()
				for code := range uint32(p.Len()) {
					posting, err := p.Bitmap(code)
					if err != nil {
						b.Fatal(err)
					}
					postings = append(postings, posting)
				}
			}
			b.Run(fmt.Sprintf("rows=%d/query=%s/by=enums", rows, query.name), func(b *testing.B) {
				n := uint64(0)
				measure(b, func() {
					n = 0
					for _, p := range postings {
						n += pass.AndCardinality(p)
					}
				})
				if n != 2*pass.GetCardinality() {
					b.Fatalf("%d rows of %d", n, 2*pass.GetCardinality())
				}
			})
		}
	}
}
