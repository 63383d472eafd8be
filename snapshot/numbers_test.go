//go:build !race

package snapshot

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"hdqs/internal/testkit"
)

// TestDecimalBounds compares the check of packed decimals with what each of them is: random numbers
// of every width and scale, of which about half of the lists have one that is out of bounds.
func TestDecimalBounds(t *testing.T) {
	t.Parallel()
	seed := testkit.Seed()
	r := rand.New(rand.NewPCG(seed, 1))
	passed, rounds := 0, int(fewer(20_000))
	for range rounds {
		p, exact := randomDecimals(r)
		want := true
		for i := range uint32(p.Packed.n) {
			want = want && isDecimal(&p, p.Packed.At(i), &exact)
		}
		if err := p.check(&exact, nil); (err == nil) != want || err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("seed %d: %d decimals: %v; want an error: %v", seed, p.Packed.n, err, !want)
		}
		if want {
			passed++
		}
	}
	if passed < rounds/10 || passed > rounds*9/10 {
		t.Errorf("seed %d: %d of %d lists pass, want some of both", seed, passed, rounds)
	}
}

// isDecimal reports whether v is a packed decimal.
func isDecimal(p *Numbers, v uint64, exact *exactTexts) bool {
	k, above := v&(1<<p.ScaleBits-1), v>>p.ScaleBits
	if k >= uint64(len(p.Scales)) {
		return false
	}
	switch p.Scales[k] {
	case DecNull:
		return above == 0
	case DecText:
		return above < uint64(exact.n)
	}
	return above <= uint64(1<<63-1)-uint64(p.Base) && p.Dec(v).canonical()
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
	pack := newPacker(n, width)
	most := ^uint64(0) >> (64 - width)
	for i := range n {
		v := r.Uint64() & most
		for range 100 {
			if isDecimal(&p, v, &exact) == (i != bad) {
				break
			}
			v = r.Uint64() & most >> r.IntN(width)
		}
		pack.add(v)
	}
	p.Packed = newPacked(pack.bytes(), n, width)
	return p, exact
}
