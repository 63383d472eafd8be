package chart

import (
	"math"
	"slices"
	"strconv"
)

// Width and Height are the size of a map in its own units. The projection is Equal Earth, in which
// areas keep their proportions.
const (
	Width  = 2000
	Height = 973
)

// project returns the place of a point on the map. Longitude and latitude are in degrees.
func project(lon, lat float64) (x, y float64) {
	const a1, a2, a3, a4 = 1.340264, -0.081106, 0.000893, 0.003796
	l, p := lon*math.Pi/180, math.Asin(math.Sqrt(3)/2*math.Sin(lat*math.Pi/180))
	p2 := p * p
	p6 := p2 * p2 * p2
	px := l * math.Cos(p) / (math.Sqrt(3) / 2 * (a1 + 3*a2*p2 + p6*(7*a3+9*a4*p2)))
	py := p * (a1 + a2*p2 + p6*(a3+a4*p2))
	const widest, tallest = 2.7066299836, 1.3173627592 // at 180° on the equator, and at a pole
	return (px/widest + 1) / 2 * Width, (1 - py/tallest) / 2 * Height
}

// AppendRing appends a closed ring of points, as longitude and latitude, to the path of a map of
// the world. A ring that crosses the edge of the map is drawn at both edges. Points that fall on
// the one before are left out, and so are rings that are smaller than a unit.
func AppendRing(path []byte, ring [][2]float64) []byte {
	for _, part := range turnedParts(ring) {
		path = appendRing(path, part, 1, project)
	}
	return path
}

// turnedParts are the parts of a ring on both sides of the edge of the map.
func turnedParts(ring [][2]float64) (parts [][][2]float64) {
	whole := slices.Clone(ring)
	shift, least, most := 0.0, 180.0, -180.0
	for i := range whole {
		if i > 0 && math.Abs(ring[i][0]-ring[i-1][0]) > 180 { // from one edge to the other
			shift += math.Copysign(360, ring[i-1][0]-ring[i][0])
		}
		whole[i][0] += shift
		least, most = min(least, whole[i][0]), max(most, whole[i][0])
	}
	if least >= -180 && most <= 180 {
		return [][][2]float64{whole}
	}
	for _, shift := range []float64{0, math.Copysign(360, -180-least)} {
		part := slices.Clone(whole)
		for i := range part {
			part[i][0] = min(max(part[i][0]+shift, -180), 180) // what is beyond falls on the edge
		}
		part = withoutRuns(part)
		parts = append(parts, part)
	}
	return parts
}

// withoutRuns leaves out the points of a ring that are on the edge of the map between others on it:
// their line would be an outline along the edge.
func withoutRuns(ring [][2]float64) [][2]float64 {
	isOn := func(i int) bool { return math.Abs(ring[(i+len(ring))%len(ring)][0]) == 180 }
	var kept [][2]float64
	for i := range ring {
		if !isOn(i) || !isOn(i-1) || !isOn(i+1) {
			kept = append(kept, ring[i])
		}
	}
	if n := len(kept); n > 0 && kept[0] != kept[n-1] { // a ring ends where it begins
		kept = append(kept, kept[0])
	}
	return kept
}

// appendRing appends a ring whose points are rounded to multiples of grid.
func appendRing(path []byte, ring [][2]float64, grid int, place func(lon, lat float64) (x, y float64)) []byte {
	points := make([][2]int, 0, len(ring))
	for _, point := range ring {
		fx, fy := place(point[0], point[1])
		at := [2]int{int(math.Round(fx/float64(grid))) * grid, int(math.Round(fy/float64(grid))) * grid}
		if n := len(points); n > 0 && points[n-1] == at {
			continue
		}
		points = append(points, at)
	}
	if len(points) < 3 { // all fall on one line
		return path
	}
	return append(appendSteps(path, points), 'z')
}

// AppendLine appends a line of points, as longitude and latitude, to the path of a map of the
// world.
func AppendLine(path []byte, line [][2]float64) []byte {
	points := make([][2]int, len(line))
	for i, point := range line {
		x, y := project(point[0], point[1])
		points[i] = [2]int{int(math.Round(x)), int(math.Round(y))}
	}
	return appendSteps(path, slices.Compact(points))
}

// appendSteps appends the first point, and the steps from each to the next.
func appendSteps(path []byte, points [][2]int) []byte {
	path = number(append(path, 'M'), points[0][0])
	path = number(append(path, ' '), points[0][1])
	command := byte('l')
	for i, p := range points[1:] {
		dx, dy := p[0]-points[i][0], p[1]-points[i][1]
		if command == 'l' || dx >= 0 {
			path = append(path, command)
		}
		path = number(path, dx)
		if dy >= 0 {
			path = append(path, ' ')
		}
		path = number(path, dy)
		command = ' '
	}
	return path
}

func number(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }
