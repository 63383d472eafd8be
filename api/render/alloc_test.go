//go:build !race

package render

import (
	"testing"

	"hdqs/api/encode"
)

// TestAllocations checks that a page takes only a few allocations, however many rows it has.
func TestAllocations(t *testing.T) {
	seg, fields := benchTable(t, "rain", 130_000)
	for _, tier := range []encode.Tier{encode.Stored, encode.Pieces, encode.Whole} {
		render, err := New(seg, fields, encode.Options{Tier: tier})
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []*Form{render.JSON(), render.CSV()} {
			for _, sel := range []string{"contiguous", "scattered"} {
				ranges := selection(sel)
				for coding, budget := range map[encode.Coding]float64{
					encode.Identity: 0, encode.Gzip: 12,
					encode.Zstd: 12,
				} {
					dst := make([]byte, 0, form.SizeHint(10_000)+1<<20)
					warm := 2 // fragments
					if tier == encode.Stored && sel == "contiguous" {
						warm = 14 // a request makes a few stored blocks only
					}
					for range warm {
						dst = form.AppendCoded(dst[:0], coding, ranges)
					}
					n := testing.AllocsPerRun(5, func() { dst = form.AppendCoded(dst[:0], coding, ranges) })
					if n > budget {
						t.Errorf("tier %v, %v, %s: %v allocations, want at most %v", tier, coding, sel, n, budget)
					}
				}
			}
		}
	}
}
