// Command worldmap turns the countries of world-atlas (Natural Earth, 1:110 million) into the paths
// of a map, which package chart embeds, or with -outlines into lists of points, which package
// generator embeds. "go generate ./api/chart ./internal/generator" writes the files; a test fails
// when one is stale.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
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
	points := flag.Bool("outlines", false, "write points in tenths of a degree")
	flag.Parse()
	write := worldMap
	if *points {
		write = outlines
	}
	if err := run(flag.Arg(0), *out, write); err != nil {
		fmt.Fprintln(os.Stderr, "worldmap:", err)
		os.Exit(1)
	}
}

func run(in, out string, write func([]country) []byte) error {
	source, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	countries, err := read(source)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	return atomicfile.Write(out, write(countries))
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

// country is the land of a country as rings of longitude and latitude.
type country struct {
	code  string // "-" if it has none: N. Cyprus, Somaliland
	rings [][][2]float64
}

// read reads the countries without Antarctica, which has no data, and a third of the height.
func read(source []byte) ([]country, error) {
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
	var all []country
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
		c := country{code: "-"}
		if number, err := strconv.Atoi(g.ID); err == nil {
			region, err := language.EncodeM49(number)
			if err != nil {
				return nil, err
			}
			c.code = region.ISO3()
		} else if g.Properties.Name == "Kosovo" { // ISO 3166-1 has no code for it
			c.code = "XKX"
		}
		if c.code == "ATA" {
			continue
		}
		for _, rings := range shapes {
			for _, ring := range rings {
				c.rings = append(c.rings, pointsOf(ring, arcs))
			}
		}
		all = append(all, c)
	}
	return all, nil
}

// worldMap is a line for each country: its code and its path.
func worldMap(countries []country) []byte {
	var lines []string
	for _, c := range countries {
		var path []byte
		for _, ring := range c.rings {
			path = chart.AppendRing(path, ring)
		}
		lines = append(lines, c.code+"\t"+string(path)+"\n")
	}
	slices.Sort(lines)
	return []byte(strings.Join(lines, ""))
}

// outlines is a line for each country with a code: the code, and for each ring the longitudes and
// latitudes of its points in tenths of a degree. Rings that cross the edge of the map are left out.
func outlines(countries []country) []byte {
	var lines []string
	for _, c := range countries {
		var rings []string
		for _, ring := range c.rings {
			if text := outline(ring); text != "" && c.code != "-" {
				rings = append(rings, text)
			}
		}
		if len(rings) > 0 {
			lines = append(lines, c.code+"\t"+strings.Join(rings, ";")+"\n")
		}
	}
	slices.Sort(lines)
	return []byte(strings.Join(lines, ""))
}

// outline is the points of a ring. It is empty if the ring is smaller than that, or crosses the
// edge.
func outline(ring [][2]float64) string {
	var points []string
	for i, p := range ring[1:] { // the last point is the first
		if math.Abs(p[0]-ring[i][0]) > 180 {
			return ""
		}
		at := strconv.Itoa(int(math.Round(p[0]*10))) + " " + strconv.Itoa(int(math.Round(p[1]*10)))
		if n := len(points); n == 0 || points[n-1] != at {
			points = append(points, at)
		}
	}
	if len(points) < 3 {
		return ""
	}
	return strings.Join(points, " ")
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
