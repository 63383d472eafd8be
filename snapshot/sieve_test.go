//go:build !race

package snapshot

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestPackedSieve compares scans that are long enough for a sieve with tests of each number: spans
// at both ends of the numbers, in the middle, and of one number, with few to many numbers in them.
func TestPackedSieve(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	for width := uint64(1); width <= 33; width++ {
		for round := range 40 {
			most := uint64(1)<<width - 1
			lo := []uint64{0, most, r.Uint64N(most + 1), most - most>>6}[r.IntN(4)]
			more := []uint64{0, most - lo, r.Uint64N(most - lo + 1), most>>6 - min(lo, most>>6), 1<<64 - 1}[r.IntN(5)]
			more = min(more, 1<<64-1-lo)
			in := func(v uint64) bool { return v >= lo && v-lo <= more }
			n, rarely := sieveRows+r.IntN(3*sieveRows), 1+r.IntN(1000)
			pack := newPacker(n, int(width))
			numbers := make([]uint64, n)
			for i := range numbers {
				v := r.Uint64() & most
				for range 20 { // mostly a number outside, also a neighbour of the span
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

// TestSieveExact: with one end, or one number, a sieve says exactly which blocks have a number in
// the span.
func TestSieveExact(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for width := uint64(1); width <= 32; width++ {
		most := uint64(1)<<width - 1
		for range 300 {
			lo := r.Uint64N(most + 1)
			more := most - lo
			switch r.IntN(3) {
			case 0:
				lo, more = 0, lo
			case 1:
				more = 0
			}
			var s sieve
			if excludes := s.set(width, lo, more); !excludes {
				if lo > 0 || more < most {
					t.Fatalf("width %d: [%d,+%d] excludes numbers", width, lo, more)
				}
				continue
			}
			pack, want := newPacker(64, int(width)), false
			outside := r.Uint64()
			for range 64 {
				v := outside & most
				if r.IntN(60) == 0 {
					v = r.Uint64() & most
				}
				want = want || v-lo <= more
				pack.add(v)
			}
			if got := s.any(pack.bytes()); got != want {
				t.Fatalf("width %d: [%d,+%d]: %v, want %v", width, lo, more, got, want)
			}
		}
	}
}
