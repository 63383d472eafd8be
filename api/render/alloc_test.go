//go:build !race

package render

import (
	"testing"

	"hdqs/api/encode"
)

// TestAllocations holds the budget of a page: a few allocations for the page, none for a row.
func TestAllocations(t *testing.T) {
	seg, fields := benchTable(t, "rain")
	for _, tier := range []encode.Tier{encode.Stored, encode.Pieces, encode.Whole} {
		render, err := NewWith(seg, fields, encode.Options{Tier: tier})
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []*Form{render.JSON(), render.CSV()} {
			for _, sel := range []string{"contiguous", "scattered"} {
				ranges := selection(sel)
				for coding, budget := range map[encode.Coding]float64{encode.Identity: 0, encode.Gzip: 12, encode.Zstd: 12} {
					dst := make([]byte, 0, form.SizeHint(10_000)+1<<20)
					for range 14 { // fragments and stored blocks are made by and by
						dst = form.AppendCoded(dst[:0], coding, ranges)
					}
					n := testing.AllocsPerRun(5, func() { dst = form.AppendCoded(dst[:0], coding, ranges) })
					if n > budget {
						t.Errorf("tier %v, %v, %s: %v allocations, at most %v", tier, coding, sel, n, budget)
					}
				}
			}
		}
	}
}
