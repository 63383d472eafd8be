//go:build !race

package snapshot

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hdqs/internal/testkit"
)

// TestDecimalBounds compares the check of 64 decimals at once with that of each: random numbers of
// every width and scale, of which about half of the lists have one that is out of bounds.
func TestDecimalBounds(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	passed, rounds := 0, int(fewer(20_000))
	for range rounds {
		p, exact := randomDecimals(r)
		b := p.bounds(&exact)
		numbers := make([]uint64, p.Packed.n)
		for i := range numbers {
			numbers[i] = p.Packed.At(uint32(i))
		}
		want := p.checkExactly(&b, 0, numbers, &exact)
		got := p.checkDecimals(&exact, nil)
		if (got == nil) != (want == nil) || got != nil && got.Error() != want.Error() {
			t.Fatalf("%d decimals: %v; want %v", p.Packed.n, got, want)
		}
		if want == nil {
			passed++
		}
	}
	if passed < rounds/10 || passed > rounds*9/10 {
		t.Errorf("%d of %d lists pass, want some of both", passed, rounds)
	}
}

func randomDecimals(r *rand.Rand) (p Numbers, exact exactTexts) {
	p.Base = []int64{0, -7, 1<<63 - 1, -1 << 63, r.Int64(), -r.Int64() >> r.IntN(64)}[r.IntN(6)]
	exact.n = r.IntN(5)
	for range 1 + r.IntN(6) {
		p.Scales = append(p.Scales, []uint8{0, 1, uint8(r.IntN(MaxScale + 1)), DecText, DecNull}[r.IntN(5)])
	}
	slices.Sort(p.Scales)
	p.Scales = slices.Compact(p.Scales)
	for 1<<p.ScaleBits < len(p.Scales) {
		p.ScaleBits++
	}
	width := int(p.ScaleBits) + r.IntN(64-int(p.ScaleBits)) + 1
	n, bad := 1+r.IntN(300), r.IntN(300)
	b := p.bounds(&exact)
	pack := newPacker(n, width)
	most := ^uint64(0) >> (64 - width)
	for i := range n {
		v := r.Uint64() & most
		for range 100 {
			if (p.checkExactly(&b, 0, []uint64{v}, &exact) == nil) == (i != bad) {
				break
			}
			v = r.Uint64() & most >> r.IntN(width)
		}
		pack.add(v)
	}
	p.Packed = newPacked(pack.bytes(), n, width)
	return p, exact
}
