package ogc

import (
	"math/rand/v2"
	"testing"

	"hdqs/api/boundary"
	"hdqs/internal/testkit"
)

// TestTouches compares boxes and triangles with the slow way: two convex shapes are apart if one of
// their sides has all of the other shape beyond it.
func TestTouches(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	apart := func(a, b [][2]float64) bool {
		for i := range a {
			p, q := a[i], a[(i+1)%len(a)]
			side := func(x [2]float64) float64 { return (q[0]-p[0])*(x[1]-p[1]) - (q[1]-p[1])*(x[0]-p[0]) }
			own, beyond := 0.0, true
			for _, x := range a {
				own += side(x)
			}
			for _, x := range b {
				beyond = beyond && side(x)*own < 0
			}
			if beyond {
				return true
			}
		}
		return false
	}
	count := [2]int{}
	for range 20_000 {
		at := func() float64 { return float64(r.IntN(21)) - 10 + 0.375*float64(r.IntN(2)) }
		triangle := [][2]float64{{at(), at()}, {at(), at()}, {at(), at()}}
		if area := (triangle[1][0]-triangle[0][0])*(triangle[2][1]-triangle[0][1]) -
			(triangle[1][1]-triangle[0][1])*(triangle[2][0]-triangle[0][0]); area == 0 {
			continue
		}
		west, south := at(), at()
		east, north := west+1+float64(r.IntN(8)), south+1+float64(r.IntN(8))
		corners := [][2]float64{{west, south}, {east, south}, {east, north}, {west, north}}
		want := !apart(triangle, corners) && !apart(corners, triangle)
		got := box{west, south, east, north}.touches(boundary.Polygon{append(triangle, triangle[0])})
		if got != want {
			t.Fatalf("%v and %v: %v, want %v", triangle, corners, got, want)
		}
		if got {
			count[1]++
		} else {
			count[0]++
		}
	}
	testkit.AtLeast(t, min(count[0], count[1]), 1000, "%v of each kind", count)
	hole := boundary.Polygon{
		{{0, 0}, {9, 0}, {9, 9}, {0, 9}, {0, 0}}, {{3, 3}, {6, 3}, {6, 6}, {3, 6}, {3, 3}},
	}
	if (box{4, 4, 5, 5}).touches(hole) || !(box{1, 1, 2, 2}).touches(hole) || !(box{4, 4, 7, 5}).touches(hole) {
		t.Error("a hole is not outside")
	}
}
