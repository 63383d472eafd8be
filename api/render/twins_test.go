//go:build !race

package render

import (
	"math/rand/v2"
	"testing"

	"hdqs/api/encode"
	"hdqs/index"
)

// TestAgainstTwins renders random ranges of random tables. It compares the bytes with those of the
// naive writers, and what the standard decoders read with the values that were put in.
func TestAgainstTwins(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	tables := 100
	if testing.Short() {
		tables = 25
	}
	for range tables {
		rows := r.IntN(1 + r.IntN(3000))
		tab := randomTable(t, r, rows)
		render, err := New(tab.seg, tab.fields, encode.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			ranges := randomRanges(r, rows)
			if r.IntN(4) == 0 && rows > 0 {
				ranges = []index.Range{{From: 0, To: uint32(rows)}}
			}
			body := render.AppendJSON([]byte("front"), ranges)
			if got, want := string(body), "front"+naiveJSON(tab, ranges); got != want {
				t.Fatalf("JSON of %v:\n got %s\nwant %s", ranges, difference(got, want), difference(want, got))
			}
			line := render.AppendCSV([]byte("front"), ranges)
			if got, want := string(line), "front"+naiveCSV(tab, ranges); got != want {
				t.Fatalf("CSV of %v:\n got %s\nwant %s", ranges, difference(got, want), difference(want, got))
			}
			checkCoded(t, render.JSON(), ranges, string(body[len("front"):]))
			checkCoded(t, render.CSV(), ranges, string(line[len("front"):]))
			decodeJSON(t, tab, ranges, body[len("front"):])
			decodeCSV(t, tab, ranges, line[len("front"):])
		}
	}
}
