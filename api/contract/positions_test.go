package contract

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPositions compares a set with a sorted list.
func TestPositions(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 7))
	for range 2000 {
		var s positions
		var want, got []int
		for range random.IntN(12) {
			position := random.IntN(maxParams)
			s.add(position)
			want = append(want, position)
		}
		for i := s.next(0); i >= 0; i = s.next(i + 1) {
			got = append(got, i)
		}
		slices.Sort(want)
		if want = slices.Compact(want); !slices.Equal(got, want) {
			t.Fatalf("%d, want %d", got, want)
		}
	}
}
