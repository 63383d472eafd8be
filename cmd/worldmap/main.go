// Command worldmap turns the countries of world-atlas (Natural Earth, 1:110 million) into the paths
// of a map, which package chart embeds. "go generate ./api/chart" writes the file; a test fails
// when it is stale.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"

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
				ID         string
				Properties struct{ Name string }
				Arcs       json.RawMessage
			}
		}
	}
	Arcs [][][2]float64
}

// worldMap is a line for each country: its code, "-" if it has none (N. Cyprus, Somaliland), and
// its path. Antarctica, which has no data and a third of the height, is left out.
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
	var lines []string
	for _, g := range t.Objects.Countries.Geometries {
		var shapes [][][]int // of a MultiPolygon: polygons of rings of arcs
		if g.Type == "Polygon" {
			shapes = make([][][]int, 1)
			if err := json.Unmarshal(g.Arcs, &shapes[0]); err != nil {
				return nil, err
			}
		} else if err := json.Unmarshal(g.Arcs, &shapes); err != nil {
			return nil, err
		}
		code := "-"
		if number, err := strconv.Atoi(g.ID); err == nil {
			region, err := language.EncodeM49(number)
			if err != nil {
				return nil, err
			}
			code = region.ISO3()
		} else if g.Properties.Name == "Kosovo" { // ISO 3166-1 has no code for it
			code = "XKX"
		}
		if code == "ATA" {
			continue
		}
		var path []byte
		for _, rings := range shapes {
			for _, ring := range rings {
				path = chart.AppendRing(path, pointsOf(ring, arcs))
			}
		}
		lines = append(lines, code+"\t"+string(path)+"\n")
	}
	slices.Sort(lines)
	return []byte(strings.Join(lines, "")), nil
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
