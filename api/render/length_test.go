package render

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hdqs/api/encode"
	"hdqs/index"
	"hdqs/internal/cache"
)

// TestRowLengths measures single rows with memory for all lengths, for some, and for none. The
// lengths stay right, and their memory within its limit, and it is given up.
func TestRowLengths(t *testing.T) {
	t.Parallel()
	tab := randomTable(t, rand.New(rand.NewPCG(3, 1)), 1000)
	var ranges []index.Range
	for at := uint32(0); at < 1000; at += 3 {
		ranges = append(ranges, index.Range{From: at, To: at + 1})
	}
	one := (*rowLengths)(nil).Size()
	for _, limit := range []int64{1 << 20, 3 * one, 1} {
		lengths := cache.NewClock(limit)
		render := newRenderer(t, tab.seg, tab.fields, encode.Options{Cache: lengths})
		want := len(render.JSON().Append(nil, ranges))
		for range 2 {
			if got := render.JSON().Length(ranges); got != want {
				t.Fatalf("limit %d: Length is %d, want %d", limit, got, want)
			}
		}
		if kept := lengths.Bytes(); kept > limit || kept == 0 && limit > 1 {
			t.Errorf("%d bytes are kept, want at most %d", kept, limit)
		}
		if render.Forget(); lengths.Bytes() != 0 {
			t.Errorf("%d bytes are kept after Forget", lengths.Bytes())
		}
		lengths.SetLimit(1 << 20)
		if render.JSON().Length(ranges[:1]); lengths.Bytes() != one {
			t.Errorf("%d bytes are kept for one row, want %d", lengths.Bytes(), one)
		}
		if lengths.SetLimit(one - 1); lengths.Bytes() != 0 {
			t.Errorf("%d bytes are kept above the limit", lengths.Bytes())
		}
	}
}

// TestLongRowLengths keeps lengths of two bytes only, and those of neighbours apart.
func TestLongRowLengths(t *testing.T) {
	t.Parallel()
	var l rowLengths
	l.set(6, math.MaxUint16)
	l.set(7, math.MaxUint16+1)
	l.set(8, 3)
	l.set(9, 4)
	for i, want := range map[uint32]uint32{5: 0, 6: math.MaxUint16, 7: 0, 8: 3, 9: 4, 10: 0} {
		if got := l.at(i); got != want {
			t.Errorf("the length of row %d is %d, want %d", i, got, want)
		}
	}
}

// TestIsPlain compares isPlain with a check of each byte. The texts have escaped characters, and
// neighbours of those, at random positions.
func TestIsPlain(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		text := []byte(strings.Repeat("é!#[]~", 8))[:r.IntN(40)]
		for range r.IntN(3) {
			if len(text) > 0 {
				text[r.IntN(len(text))] = byte(r.Uint32())
			}
		}
		want := true
		for _, b := range text {
			want = want && b >= ' ' && b != '"' && b != '\\'
		}
		if got := isPlain(string(text)); got != want {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
	}
}
