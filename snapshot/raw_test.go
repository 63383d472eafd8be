//go:build !race

package snapshot

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestPackedScans compares the scans of packed numbers with tests of each number.
func TestPackedScans(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	for round := range 2000 {
		n, width := 1+r.IntN(700), r.IntN(58)
		pack := newPacker(n, width)
		numbers := make([]uint64, n)
		for i := range numbers {
			numbers[i] = r.Uint64() & (1<<width - 1)
			pack.add(numbers[i])
		}
		p := newPacked(pack.bytes(), n, width)
		from := r.IntN(n)
		count := r.IntN(n - from + 1)
		lo := numbers[r.IntN(n)]
		if r.IntN(4) == 0 {
			lo = r.Uint64N(2 << width)
		}
		more := []uint64{0, 1, r.Uint64N(1 << width), 1<<width - 1, 1<<64 - 1 - lo}[r.IntN(5)]
		unpacked := make([]uint64, count)
		if p.Unpack64(unpacked, uint32(from)); !slices.Equal(unpacked, numbers[from:from+count]) {
			t.Fatalf("seed %d round %d: width %d unpacked from %d: %v, want %v", seed, round, width, from, unpacked,
				numbers[from:from+count])
		}
		set := make([]uint64, 1+1<<min(width, 16)/64)
		for i := range set {
			set[i] = r.Uint64() & r.Uint64()
		}
		got, want := make([]uint64, n/64+1), make([]uint64, n/64+1)
		got[0], want[0] = 4, 4
		for i, v := range numbers[from : from+count] {
			if v >= lo && v <= lo+more {
				want[i>>6] |= 1 << (i & 63)
			}
		}
		p.Within(uint32(from), count, lo, more, got)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d round %d: width %d [%d,+%d] of %d from %d: %x, want %x", seed, round, width, lo, more,
				count, from, got, want)
		}
		if width > 16 {
			continue
		}
		clear(got)
		clear(want)
		for i, v := range numbers[from : from+count] {
			want[i>>6] |= set[v>>6] >> (v & 63) & 1 << (i & 63)
		}
		p.In(uint32(from), count, set, got)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d round %d: width %d in a set: %x, want %x", seed, round, width, got, want)
		}
	}
}
