package render

import (
	"math/rand/v2"
	"testing"

	"hdqs/index"
)

// TestBodiesInParts compares the parts of random bodies with the whole, and their length with the one told ahead, of forms that have counted before
// and of new ones.
func TestBodiesInParts(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	const long = partBytes / 8 // so many rows of JSON, of 12 bytes at least, have two parts
	parts := 0
	for n := range 20 {
		rows := long + 4
		if n >= 2 {
			rows = r.IntN(1 + r.IntN(6000))
		}
		tab := randomTable(t, r, rows)
		render, err := New(tab.seg, tab.fields)
		if err != nil {
			t.Fatal(err)
		}
		for page := range 5 {
			ranges := randomRanges(r, rows)
			switch {
			case n < 2: // the ten bodies that have two parts whatever the seed
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
					t.Fatalf("rows %v have %d bytes, told were %d", ranges, len(want), b.Len())
				}
				got := ""
				for more := true; more; parts++ {
					var part []byte
					if part, more = b.AppendPart(nil); more && len(part) < partBytes {
						t.Fatalf("a part of %d bytes with more behind it", len(part))
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
		t.Errorf("%d parts: hardly a body had two", parts)
	}
}

// TestDigitCount counts at all ends of numbers of digits.
func TestDigitCount(t *testing.T) {
	for n, power := range powersOfTen {
		if got := digitCount(power); got != n+1 {
			t.Errorf("%d has %d digits, counted %d", power, n+1, got)
		}
		if got := digitCount(power - 1); got != max(n, 1) {
			t.Errorf("%d has %d digits, counted %d", power-1, max(n, 1), got)
		}
	}
	if got := digitCount(1<<64 - 1); got != 20 {
		t.Errorf("the largest number has %d digits, want 20", got)
	}
}
