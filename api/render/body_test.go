//go:build !race

package render

import (
	"math/rand/v2"
	"testing"

	"hdqs/api/encode"
	"hdqs/index"
)

// TestBodiesInParts compares the parts of random bodies with the whole body, and the length with
// the one known in advance, with and without cached lengths.
func TestBodiesInParts(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	const long = partBytes / 8 // rows of JSON take at least 12 bytes, so this many need two parts
	parts := 0
	for n := range 20 {
		rows := long + 4
		if n >= 2 {
			rows = r.IntN(1 + r.IntN(6000))
		}
		tab := randomTable(t, r, rows)
		render, err := New(tab.seg, tab.fields, encode.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for page := range 5 {
			ranges := randomRanges(r, rows)
			switch {
			case n < 2: // ten bodies have two parts with any seed
				ranges = []index.Range{{From: uint32(page), To: uint32(page + long)}}
			case r.IntN(8) == 0:
				ranges = nil
			case r.IntN(2) == 0 && rows > 0:
				from := r.IntN(rows)
				ranges = []index.Range{{From: uint32(from), To: uint32(from + 1 + r.IntN(rows-from))}}
			}
			for _, f := range []*Form{render.JSON(), render.CSV()} {
				want := string(f.Append(nil, ranges))
				var b Body
				b.Start(f, ranges)
				if b.Len() != len(want) {
					t.Fatalf("rows %v: Len is %d, want %d", ranges, b.Len(), len(want))
				}
				got := ""
				for more := true; more; parts++ {
					var part []byte
					if part, more = b.AppendPart(nil); more && len(part) < partBytes {
						t.Fatalf("a part of %d bytes is not the last, want at least %d", len(part), partBytes)
					}
					got += string(part)
				}
				if got != want {
					t.Fatalf("rows %v:\n got %s\nwant %s", ranges, difference(got, want), difference(want, got))
				}
			}
		}
	}
	if parts < 20*5*2+10 {
		t.Errorf("%d parts: too few bodies had two", parts)
	}
}

// TestDigitCount checks the least and the greatest number of each number of digits.
func TestDigitCount(t *testing.T) {
	t.Parallel()
	for n, power := range powersOfTen {
		if got := digitCount(power); got != n+1 {
			t.Errorf("digitCount(%d) is %d, want %d", power, got, n+1)
		}
		if got := digitCount(power - 1); got != max(n, 1) {
			t.Errorf("digitCount(%d) is %d, want %d", power-1, got, max(n, 1))
		}
	}
	if got := digitCount(1<<64 - 1); got != 20 {
		t.Errorf("digitCount(1<<64 - 1) is %d, want 20", got)
	}
}
