package chart

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// fineness is how many steps the points of outlines have in a unit of the map.
const fineness = 4

// point is a place on the plane of a map, in steps.
type point [2]int32

// outline is the rings of an area. weight says of each point how much the drawing changes without
// it: the area of the triangle with its neighbours (Visvalingam's algorithm), in steps squared.
// Neighbours have the same points along a border, so they keep the same ones.
type outline struct {
	rings []ring
}

type ring struct {
	points []point
	weight []int64
	size   int64 // twice the area
	keep   bool  // it has a border with others, or is the largest of its outline
}

// steps puts the points of a ring on the plane. Points on the one before are left out.
func steps(points [][2]float64, place func(lon, lat float64) (x, y float64)) []point {
	all := make([]point, 0, len(points))
	for _, p := range points {
		x, y := place(p[0], p[1])
		at := point{int32(math.Round(x * fineness)), int32(math.Round(y * fineness))}
		if n := len(all); n == 0 || all[n-1] != at {
			all = append(all, at)
		}
	}
	if n := len(all); n > 1 && all[0] == all[n-1] {
		all = all[:n-1]
	}
	return all
}

// crossing is what is known of a point. Borders meet where several rings pass it and it has more
// than two different neighbours.
type crossing struct {
	near  [2]point
	count int8 // of near
	many  bool // there are more than two
	ring  *ring
	rings int8 // that pass, up to 2
}

// weigh sets the weights of all points.
func weigh(outlines []outline) {
	at := map[point]*crossing{}
	for o := range outlines {
		for k := range outlines[o].rings {
			r := &outlines[o].rings[k]
			n := len(r.points)
			for i, p := range r.points {
				c := at[p]
				if c == nil {
					c = new(crossing)
					at[p] = c
				}
				if c.ring != r {
					c.ring, c.rings = r, min(c.rings+1, 2)
				}
				for _, other := range [2]point{r.points[(i+n-1)%n], r.points[(i+1)%n]} {
					switch {
					case c.count > 0 && c.near[0] == other, c.count > 1 && c.near[1] == other:
					case c.count == 2:
						c.many = true
					default:
						c.near[c.count] = other
						c.count++
					}
				}
			}
		}
	}
	for o := range outlines {
		largest := -1
		rings := outlines[o].rings
		for i := range rings {
			r := &rings[i]
			for k, p := range r.points {
				q := r.points[(k+1)%len(r.points)]
				r.size += int64(p[0])*int64(q[1]) - int64(q[0])*int64(p[1])
				r.keep = r.keep || at[p].rings > 1
			}
			if r.size = max(r.size, -r.size); largest < 0 || r.size > rings[largest].size {
				largest = i
			}
			r.weigh(at)
		}
		if largest >= 0 {
			rings[largest].keep = true
		}
	}
}

// weigh sets the weights of a ring's points, from one junction to the next. A ring without any is
// cut at its first point in order, and at the one that is farthest from it.
func (r *ring) weigh(at map[point]*crossing) {
	n := len(r.points)
	r.weight = make([]int64, n)
	var cuts []int
	for i, p := range r.points {
		if c := at[p]; c.many && c.rings > 1 {
			cuts = append(cuts, i)
		}
	}
	if len(cuts) == 0 {
		first := 0
		for i, p := range r.points {
			if comparePoints(p, r.points[first]) < 0 {
				first = i
			}
		}
		cuts = append(cuts, first)
	}
	if len(cuts) == 1 {
		a, far := r.points[cuts[0]], cuts[0]
		for i, p := range r.points {
			d := cmp.Compare(distance(a, p), distance(a, r.points[far]))
			if d > 0 || d == 0 && comparePoints(p, r.points[far]) < 0 {
				far = i
			}
		}
		cuts = append(cuts, far)
		slices.Sort(cuts)
	}
	for i, from := range cuts {
		r.weight[from] = math.MaxInt64
		to := cuts[(i+1)%len(cuts)]
		if to <= from {
			to += n
		}
		r.weighArc(from, to)
	}
}

func comparePoints(a, b point) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }

func distance(a, b point) int64 {
	x, y := int64(a[0]-b[0]), int64(a[1]-b[1])
	return x*x + y*y
}

// node is a point between the ends of an arc.
type node struct {
	at, place    int // in the ring, and in the heap
	before, next *node
	p            point
	weight       int64
}

// lightest is a heap of nodes, the lightest first, in the same order in both directions of an arc.
type lightest []*node

func (h lightest) Len() int { return len(h) }
func (h lightest) Less(i, k int) bool {
	a, b := h[i], h[k]
	return cmp.Or(cmp.Compare(a.weight, b.weight), comparePoints(a.p, b.p)) < 0
}
func (h lightest) Swap(i, k int) { h[i], h[k] = h[k], h[i]; h[i].place, h[k].place = i, k }
func (h *lightest) Push(x any)   { panic("chart: nothing is added to a heap of points") }
func (h *lightest) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// weighArc removes the points between two ends, the lightest first. The weight of a point is never
// less than that of those removed before it.
func (r *ring) weighArc(from, to int) {
	n := len(r.points)
	nodes := make([]node, to-from+1)
	h := make(lightest, 0, len(nodes))
	for i := range nodes {
		x := &nodes[i]
		x.at = (from + i) % n
		x.p = r.points[x.at]
		if i > 0 {
			x.before, nodes[i-1].next = &nodes[i-1], x
		}
	}
	for i := 1; i < len(nodes)-1; i++ {
		x := &nodes[i]
		x.weight, x.place = x.triangle(), len(h)
		h = append(h, x)
	}
	heap.Init(&h)
	most := int64(0)
	for len(h) > 0 {
		x := heap.Pop(&h).(*node)
		most = max(most, x.weight)
		r.weight[x.at] = most
		x.before.next, x.next.before = x.next, x.before
		for _, other := range [2]*node{x.before, x.next} {
			if other.before != nil && other.next != nil {
				other.weight = other.triangle()
				heap.Fix(&h, other.place)
			}
		}
	}
}

// triangle is twice the area of the triangle of a node and its neighbours.
func (x *node) triangle() int64 {
	a, b, c := x.before.p, x.p, x.next.p
	v := int64(b[0]-a[0])*int64(c[1]-a[1]) - int64(c[0]-a[0])*int64(b[1]-a[1])
	return max(v, -v)
}

// appendPath appends the rings of an outline to a path, with points rounded to multiples of grid.
// Points and rings that weigh less than least are left out.
func (o *outline) appendPath(path []byte, least int64, grid int) []byte {
	same := func(x, y float64) (float64, float64) { return x, y }
	var points [][2]float64
	for i := range o.rings {
		r := &o.rings[i]
		if !r.keep && r.size < 4*least {
			continue
		}
		points = points[:0]
		for k, p := range r.points {
			if r.weight[k] >= least {
				points = append(points, [2]float64{float64(p[0]) / fineness, float64(p[1]) / fineness})
			}
		}
		if len(points) > 2 {
			path = appendRing(path, append(points, points[0]), grid, same)
		}
	}
	return path
}

// perDegree is how many units of the plane a degree has when areas are simplified: a step is about
// a metre.
const perDegree = 1e5 / fineness

// Simplify returns the rings of areas with fewer points. Left out are points and rings that change
// an area by less than a square of so many degrees does; a ring that is left out is nil. Each area
// keeps its largest ring. Neighbours keep the same points of their border.
func Simplify(areas [][][][2]float64, degrees float64) [][][][2]float64 {
	outlines, at := make([]outline, len(areas)), make([][]int, len(areas))
	place := func(lon, lat float64) (x, y float64) { return lon * perDegree, lat * perDegree }
	for i, rings := range areas {
		for k, points := range rings {
			if r := (ring{points: steps(points, place)}); len(r.points) > 2 {
				outlines[i].rings, at[i] = append(outlines[i].rings, r), append(at[i], k)
			}
		}
	}
	weigh(outlines)
	side := degrees * perDegree * fineness
	least := int64(side * side)
	all := make([][][][2]float64, len(areas))
	for i := range outlines {
		all[i] = make([][][2]float64, len(areas[i]))
		for n := range outlines[i].rings {
			all[i][at[i][n]] = outlines[i].rings[n].simplified(2 * least)
		}
	}
	return all
}

// simplified is a ring in degrees, without what weighs less than least; nil if it is left out. One
// that would be no area keeps all points.
func (r *ring) simplified(least int64) (points [][2]float64) {
	if !r.keep && r.size < least {
		return nil
	}
	for _, from := range []int64{least, 0} {
		points = points[:0]
		for k, p := range r.points {
			if r.weight[k] >= from {
				const steps = fineness * perDegree
				points = append(points, [2]float64{float64(p[0]) / steps, float64(p[1]) / steps})
			}
		}
		if len(points) > 2 {
			break
		}
	}
	return append(points, points[0])
}
