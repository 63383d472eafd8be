package chart

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hdqs/internal/testkit"
)

// rough is a line from one point to another that wavers.
func rough(random *rand.Rand, from, to [2]float64) [][2]float64 {
	line := [][2]float64{from}
	for i := 1; i < 200; i++ {
		part := float64(i) / 200
		x, y := from[0]+(to[0]-from[0])*part, from[1]+(to[1]-from[1])*part
		line = append(line, [2]float64{x + random.NormFloat64()*2, y + random.NormFloat64()*2})
	}
	return line
}

// TestBordersStayShared: neighbours keep the same points of the border between them, and of that
// around an enclave, however much is left out; little rings go first.
func TestBordersStayShared(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(16, 4))
	// Three areas meet at a point; each has a part of the coast around them. One has an enclave.
	middle, coast := [2]float64{500, 500}, [][2]float64{{100, 100}, {900, 150}, {500, 950}}
	var spokes, shore [3][][2]float64
	for i := range 3 {
		spokes[i] = rough(random, coast[i], middle)
		shore[i] = rough(random, coast[i], coast[(i+1)%3])
	}
	var outlines []outline
	same := func(x, y float64) (float64, float64) { return x, y }
	for i := range 3 {
		back := slices.Clone(spokes[i])
		slices.Reverse(back)
		points := slices.Concat(shore[i], spokes[(i+1)%3], [][2]float64{middle}, back)
		outlines = append(outlines, outline{rings: []ring{{points: steps(points, same)}}})
	}
	var round [][2]float64
	for i := range 100 {
		at := float64(i) / 100 * 2 * math.Pi
		round = append(round, [2]float64{480 + 40*math.Cos(at) + random.Float64(), 250 + 30*math.Sin(at)})
	}
	enclave := steps(round, same)
	hole := slices.Concat(enclave[37:], enclave[:37])
	slices.Reverse(hole)
	outlines[0].rings = append(outlines[0].rings, ring{points: hole})
	outlines = append(outlines, outline{rings: []ring{
		{points: enclave}, {points: []point{{4000, 4000}, {4004, 4000}, {4000, 4004}}}, // and an islet
	}})
	weigh(outlines)
	all := 0
	for _, least := range []int64{0, leastWeight, 50, 200, 1000, mostWeight} {
		kept := func(r *ring) map[point]bool {
			points := map[point]bool{}
			for i, p := range r.points {
				if r.weight[i] >= least {
					points[p] = true
				}
			}
			return points
		}
		var sets []map[point]bool
		for i := range 3 {
			sets = append(sets, kept(&outlines[i].rings[0]))
		}
		n := 0
		for i := range 3 {
			for _, p := range steps(spokes[i], same) {
				if sets[i][p] != sets[(i+2)%3][p] {
					t.Fatalf("%v of a border: neighbours do not agree at %d", p, least)
				}
			}
			n += len(sets[i])
		}
		if !maps.Equal(kept(&outlines[0].rings[1]), kept(&outlines[3].rings[0])) {
			t.Errorf("the enclave and the hole do not agree at %d", least)
		}
		if all > 0 && n >= all {
			t.Errorf("at %d there are %d points, there were %d", least, n, all)
		}
		all = n
		if rings := len(outlines[3].appendPath(nil, least, 1)); rings == 0 {
			t.Errorf("the enclave is gone at %d", least)
		}
	}
	with, without := outlines[3].appendPath(nil, 1, 1), outlines[3].appendPath(nil, 50, 1)
	if slices.Equal(with, without) || slices.Contains(without[1:], 'M') {
		t.Errorf("the islet stays: %s", without)
	}
}

// TestSimplify: two neighbours have the same points along their border, all of their own, and
// islets are left out, but never an area.
func TestSimplify(t *testing.T) {
	t.Parallel()
	var border [][2]float64
	for i := range 201 {
		border = append(border, [2]float64{1 + 0.01*math.Sin(float64(i)), float64(i) / 100})
	}
	back := slices.Clone(border)
	slices.Reverse(back)
	left := append(slices.Concat(border, [][2]float64{{0, 2}, {0, 0}}), border[0])
	right := append(slices.Concat(back, [][2]float64{{2, 0}, {2, 2}}), back[0])
	islet := [][2]float64{{5, 5}, {5.001, 5}, {5.001, 5.001}, {5, 5}}
	alone := [][2]float64{{7, 7}, {7.001, 7}, {7.001, 7.001}, {7, 7}}
	all := Simplify([][][][2]float64{{left, islet}, {right}, {alone}}, 0.05)
	on := func(ring [][2]float64) (points [][2]float64) {
		for _, p := range ring[:len(ring)-1] {
			if p[0] > 0.9 && p[0] < 1.1 {
				points = append(points, p)
			}
		}
		slices.SortFunc(points, func(a, b [2]float64) int { return cmp.Compare(a[1], b[1]) })
		return points
	}
	a, b := on(all[0][0]), on(all[1][0])
	if !slices.Equal(a, b) || len(a) < 2 || len(a) > 50 {
		t.Errorf("the border has %d and %d points of %d: %v %v", len(a), len(b), len(border), a, b)
	}
	if all[0][1] != nil || len(all[2][0]) != 4 {
		t.Errorf("the islet is %v beside an area, and alone %v", all[0][1], all[2][0])
	}
	for _, ring := range [][][2]float64{all[0][0], all[1][0], all[2][0]} {
		testkit.Equal(t, ring[0], ring[len(ring)-1], "%v does not end where it begins", ring)
	}
}
