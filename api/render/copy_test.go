//go:build !race

package render

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestCopyRows compares the texts of rows, moved by both ways to do so, with the same texts
// appended one by one. What is written after them stays within overshoot bytes.
func TestCopyRows(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	source := make([]byte, 4096)
	for i := range source {
		source[i] = byte(r.Uint32())
	}
	text := func(most int) []byte {
		n := r.IntN(most + 1)
		from := r.IntN(len(source) - overshoot - n + 1)
		return source[from : from+n]
	}
	const guard = 0xa5
	to := make([]byte, 0, 1<<20)
	for range 3000 {
		rows, most := 1+r.IntN(batch), 1<<r.IntN(10)
		lanes := make([]joinedLane, 1+r.IntN(6))
		for i := range lanes {
			if r.IntN(3) == 0 {
				lanes[i].same = text(most)
				continue
			}
			lanes[i].texts = new([batch][]byte)
			for k := range rows {
				lanes[i].texts[k] = text(most)
			}
		}
		want := []byte("before")
		for k := range rows {
			for _, l := range lanes {
				if l.texts != nil {
					want = append(want, l.texts[k]...)
				} else {
					want = append(want, l.same...)
				}
			}
		}
		size := len(want) - len("before")
		check := func(name string, got []byte) {
			t.Helper()
			if !bytes.Equal(got, want) {
				t.Fatalf("%s: %d rows of %d lanes of texts up to %d bytes:\n got %q\nwant %q", name, rows, len(lanes),
					most, got, want)
			}
			for i, b := range got[len(got) : len(got)+2*overshoot][overshoot:] {
				if b != guard {
					t.Fatalf("%s: %d bytes after the texts, %d was written", name, overshoot+i, b)
				}
			}
		}
		clean := func() {
			for i := range to[:len(want)+2*overshoot] {
				to[:cap(to)][i] = guard
			}
			copy(to[:cap(to)], "before")
		}
		clean()
		check("as rendered", appendTexts(to[:len("before")], lanes, rows, size))
		clean()
		copyRows(to[len("before"):len(want)+overshoot], lanes, rows)
		check("without AVX2", to[:len(want)])
	}
}
