//go:build !race

package render

import (
	"testing"

	"hdqs/api/encode"
)

// TestAllocations checks that a page allocates nothing, however many rows and runs of rows it has.
func TestAllocations(t *testing.T) {
	seg, fields := benchTable(t, "rain", 130_000)
	for _, tier := range []encode.Tier{encode.Stored, encode.Pieces, encode.Whole} {
		render := newRenderer(t, seg, fields, encode.Options{Tier: tier})
		for _, form := range []*Form{render.JSON(), render.Lines(), render.CSV()} {
			for _, sel := range []string{"contiguous", "stretches", "scattered"} {
				ranges := selection(sel)
				for _, coding := range []encode.Coding{encode.Identity, encode.Gzip, encode.Zstd} {
					dst := make([]byte, 0, form.SizeHint(10_000)+1<<20)
					warm := 2 // fragments
					if tier == encode.Stored && sel != "scattered" {
						warm = 14 // a request makes a few stored blocks only
					}
					for range warm {
						dst = form.AppendCoded(dst[:0], coding, ranges)
					}
					n := testing.AllocsPerRun(5, func() { dst = form.AppendCoded(dst[:0], coding, ranges) })
					if n > 0 {
						t.Errorf("tier %v, %v, %s: %v allocations, want none", tier, coding, sel, n)
					}
				}
			}
		}
	}
}
