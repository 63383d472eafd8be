//go:build !race

package snapshot

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// randomRange returns a range of numbers up to most, as a first number and how many more: at both
// ends, in the middle, around the half of them, and of one number.
func randomRange(r *rand.Rand, most uint64) (lo, more uint64) {
	lo = []uint64{0, most, r.Uint64N(most + 1), most - most>>6, most>>1 + r.Uint64N(3) - 1, 1}[r.IntN(6)] & most
	more = []uint64{
		0, most - lo, r.Uint64N(most - lo + 1), most>>6 - min(lo, most>>6), 1<<64 - 1, most>>1 + r.Uint64N(3) - 1,
	}[r.IntN(6)]
	return lo, min(more, 1<<64-1-lo)
}

// TestPackedRange compares scans that are long enough for a rangeTest with tests of each number,
// for few to many numbers in the range.
func TestPackedRange(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	for width := uint64(1); width <= 33; width++ {
		for round := range 60 {
			most := uint64(1)<<width - 1
			lo, more := randomRange(r, most)
			in := func(v uint64) bool { return v >= lo && v-lo <= more }
			n, rarely := rangeRows+r.IntN(12*rangeRows), 1+r.IntN(1000)
			pack := newPacker(n, int(width))
			numbers := make([]uint64, n)
			for i := range numbers {
				v := r.Uint64() & most
				for range 20 { // mostly a number outside, also a neighbour of the range
					if !in(v) || r.IntN(rarely) == 0 {
						break
					}
					v = []uint64{r.Uint64(), lo - 1, lo + more + 1}[r.IntN(3)] & most
				}
				numbers[i] = v
				pack.add(v)
			}
			p := newPacked(pack.bytes(), n, int(width))
			from := r.IntN(3) * 64
			if r.IntN(4) == 0 {
				from = r.IntN(300)
			}
			count := n - from - r.IntN(100)
			got, want := make([]uint64, n/64+1), make([]uint64, n/64+1)
			got[0], want[0] = 4, 4
			for i, v := range numbers[from : from+count] {
				if in(v) {
					want[i>>6] |= 1 << (i & 63)
				}
			}
			if p.Within(uint32(from), count, lo, more, got); !slices.Equal(got, want) {
				t.Fatalf("seed %d width %d round %d: [%d,+%d] of %d from %d differs", seed, width, round, lo, more,
					count, from)
			}
		}
	}
}

// TestRangeBlock compares the tests of a block with tests of each number: with one end, any says
// exactly whether one passes, with two it never misses one.
func TestRangeBlock(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	for width := uint64(minMerged); width <= 32; width++ {
		most := uint64(1)<<width - 1
		for range 500 {
			lo, more := randomRange(r, most)
			var test rangeTest
			if excludes := test.set(width, lo, more); !excludes {
				if lo > 0 || more < most {
					t.Fatalf("seed %d width %d: [%d,+%d] excludes numbers", seed, width, lo, more)
				}
				continue
			}
			pack, want := newPacker(64, int(width)), uint64(0)
			usual := r.Uint64()
			for i := range 64 {
				v := usual & most
				if r.IntN(30) == 0 {
					v = []uint64{r.Uint64(), lo, lo - 1, lo + more, lo + more + 1}[r.IntN(5)] & most
				}
				if v-lo <= more {
					want |= 1 << i
				}
				pack.add(v)
			}
			block := pack.bytes()
			if got := test.mask(block); got != want {
				t.Fatalf("seed %d width %d: [%d,+%d]: %x, want %x", seed, width, lo, more, got, want)
			}
			if any := test.any(block); any != (want != 0) && (want != 0 || !test.two) {
				t.Fatalf("seed %d width %d: any of [%d,+%d] is %v, want %x", seed, width, lo, more, any, want)
			}
		}
	}
}
