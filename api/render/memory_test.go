//go:build !race

package render

import (
	"testing"

	"hdqs/api/encode"
	"hdqs/index"
	"hdqs/internal/testkit"
)

// fragmentBytes returns the memory of the fragments that exist.
func (f *Form) fragmentBytes() (n int64) {
	for i := range f.pieces {
		for _, fr := range []*fragments{f.pieces[i].fragments, f.pieces[i].exact} {
			if fr == nil {
				continue
			}
			for k := range fr.chunks {
				if c := fr.chunks[k].Load(); c != nil {
					n += int64(cap(c.text)) + 4*int64(cap(c.cuts)+cap(c.first)+len(c.starts))
				}
			}
			if fr.same != nil {
				for text := range fr.same.first {
					n += int64(len(text))
				}
			}
		}
	}
	return n
}

// TestFullBytes compares the estimate with the memory of all fragments of random tables. It must
// not be far below, and not far above where there is more than a little memory.
func TestFullBytes(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	large := 0
	for range 25 {
		rows := 1 + r.IntN(4000)
		tab := randomTable(t, r, rows)
		render := newRenderer(t, tab.seg, tab.fields, encode.Options{})
		for _, f := range []*Form{render.JSON(), render.Lines(), render.CSV()} {
			for i := range f.pieces { // every code, also those of combinations that no row has
				for _, fr := range []*fragments{f.pieces[i].fragments, f.pieces[i].exact} {
					for code := 0; fr != nil && code < fr.n; code += chunkSize {
						fr.at(uint32(code))
					}
				}
			}
			f.Append(nil, []index.Range{{From: 0, To: uint32(rows)}})
			got, want := f.fullBytes(map[*fragments]bool{}), f.fragmentBytes()
			if got < want*4/5 {
				t.Errorf("%d rows, %d pieces: estimate %d, the fragments have %d bytes", rows, len(f.pieces), got, want)
			}
			if want > 64<<10 {
				large++
				if got > want*3 {
					t.Errorf("%d rows, %d pieces: estimate %d for %d bytes", rows, len(f.pieces), got, want)
				}
			}
		}
	}
	testkit.AtLeast(t, large, 4, "forms have more than a little memory: the test shows nothing")
}

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
