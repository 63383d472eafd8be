//go:build !race

package snapshot

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPacked compares every way of reading packed numbers with the numbers, for all widths and for
// lengths around the ends of loads.
func TestPacked(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 11))
	for w := range 59 {
		width := w
		if w == 58 {
			width = 64
		}
		for _, n := range []int{0, 1, 2, 7, 8, 9, 63, 64, 65, 200, 1001} {
			values := make([]uint64, n)
			pack := newPacker(n, width)
			for i := range values {
				values[i] = r.Uint64() & (1<<width - 1)
				pack.add(values[i])
			}
			data := pack.bytes()
			p, err := openPacked(&block{encoding: encPacked, width: uint8(width), count: uint32(n)}, data, n)
			if err != nil {
				t.Fatalf("width %d, %d values: %v", width, n, err)
			}
			for i, want := range values {
				if got := p.At(uint32(i)); got != want {
					t.Fatalf("width %d: value %d of %d is %d, want %d", width, i, n, got, want)
				}
			}
			checkUnpack(t, p, values, r)
			checkWithin(t, p, values, r)
		}
	}
}

func checkUnpack(t *testing.T, p Packed, values []uint64, r *rand.Rand) {
	t.Helper()
	for range 20 {
		from := r.IntN(len(values) + 1)
		dst := make([]uint32, r.IntN(len(values)-from+1))
		p.Unpack(dst, uint32(from))
		for k, got := range dst {
			if want := uint32(values[from+k]); got != want {
				t.Fatalf("width %d: unpacked value %d of %d is %d, want %d", p.Width(), from+k, len(values), got, want)
			}
		}
	}
}

func checkWithin(t *testing.T, p Packed, values []uint64, r *rand.Rand) {
	t.Helper()
	bounds := []uint64{0, r.Uint64() & p.mask, p.mask}
	if len(values) > 0 {
		top := slices.Max(values)
		bounds = append(bounds, top, max(top, 1)-1)
	}
	for _, bound := range bounds {
		want := !slices.ContainsFunc(values, func(v uint64) bool { return v > bound })
		if got := p.within(bound, nil); got != want {
			t.Fatalf("width %d, %d values: within %d is %v, want %v", p.Width(), len(values), bound, got, want)
		}
	}
}

// TestWithinFindsOne: within finds a single number that is too large, at any position.
func TestWithinFindsOne(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1, 3, 7, 8, 15, 19, 28, 29, 40} {
		const n = 150
		for at := range n {
			pack := newPacker(n, width)
			bound := uint64(1)<<width - 2
			for i := range n {
				v := bound
				if i == at {
					v++
				}
				pack.add(v)
			}
			if p := newPacked(pack.bytes(), n, width); p.within(bound, nil) {
				t.Fatalf("width %d: number %d is above %d, but was not found", width, at, bound)
			}
		}
	}
}
