//go:build !race

package snapshot

import (
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"testing"

	"hdqs/internal/testkit"
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
	r := testkit.Random(t)
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
				t.Fatalf("width %d round %d: [%d,+%d] of %d from %d differs", width, round, lo, more,
					count, from)
			}
		}
	}
}

// TestWithinBlocks compares the test of whole blocks with tests of each number, while the block is
// read. Without a number above the bound all of it is read, up to its last piece.
func TestWithinBlocks(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	for width := 1; width <= 40; width++ {
		for range 60 {
			most := uint64(1)<<width - 1
			bound := most - r.Uint64N(most>>r.IntN(width)+1)
			n, at := rangeRows+r.IntN(4*rangeRows), -1
			values := make([]uint64, n)
			for i := range values {
				values[i] = []uint64{r.Uint64N(bound + 1), bound, most >> 1 & bound, 0}[r.IntN(4)]
			}
			if bound < most && r.IntN(2) == 0 {
				at = r.IntN(n)
				values[at] = bound + 1 + []uint64{0, r.Uint64N(most - bound), most - bound - 1}[r.IntN(3)]
			}
			pack := newPacker(n, width)
			for _, v := range values {
				pack.add(v)
			}
			p := newPacked(pack.bytes(), n, width)
			read := reading{data: p.data}
			if got := p.within(bound, &read); got != (at < 0) {
				t.Fatalf("width %d: within %d of %d numbers is %v, number %d is above", width, bound, n,
					got, at)
			}
			if want := crc32.Checksum(p.data, castagnoli); read.checksum() != want {
				t.Fatalf("width %d: checksum %08x of %d bytes, want %08x", width, read.sum, len(p.data),
					want)
			}
		}
	}
}
