package generator

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"sync"
)

// outlinesText has a line for each country of Natural Earth, 1:110 million: its code, and for each
// ring the longitudes and latitudes of its points in tenths of a degree.
//
//go:embed outlines.txt
var outlinesText string

// outline is the land of a country: rings of points in tenths of a degree, islands and holes alike.
type outline struct {
	rings                    [][][2]int // longitude, latitude
	west, south, east, north int
}

// outlines are those of the countries that the map of the pages has, by code.
var outlines = sync.OnceValue(func() map[string]*outline {
	all := map[string]*outline{}
	for line := range strings.Lines(outlinesText) {
		code, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		o := &outline{west: math.MaxInt, south: math.MaxInt, east: math.MinInt, north: math.MinInt}
		for ringText := range strings.SplitSeq(text, ";") {
			var ring [][2]int
			numbers := strings.Fields(ringText)
			for i := 0; i+1 < len(numbers); i += 2 {
				lon, err := strconv.Atoi(numbers[i])
				lat, err2 := strconv.Atoi(numbers[i+1])
				if err != nil || err2 != nil {
					panic("generator: outlines.txt: no number in the line of " + code)
				}
				ring = append(ring, [2]int{lon, lat})
				o.west, o.east = min(o.west, lon), max(o.east, lon)
				o.south, o.north = min(o.south, lat), max(o.north, lat)
			}
			o.rings = append(o.rings, ring)
		}
		all[code] = o
	}
	return all
})

// has reports whether a point is on the land.
func (o *outline) has(lon, lat float64) bool {
	inside := false
	for _, ring := range o.rings {
		last := ring[len(ring)-1]
		for _, p := range ring {
			x1, y1, x2, y2 := float64(last[0]), float64(last[1]), float64(p[0]), float64(p[1])
			if y1 > lat != (y2 > lat) && lon < x1+(lat-y1)/(y2-y1)*(x2-x1) {
				inside = !inside
			}
			last = p
		}
	}
	return inside
}

// maxTries is enough for a country of many islands, which have a hundredth of the box around them.
const maxTries = 2000

// placeIn invents a place on the land of a country. There is none if the map does not have it.
func placeIn(r *random, country string) (lat, lon number) {
	o := outlines()[country]
	if o == nil {
		return lat, lon
	}
	for range maxTries {
		x, y := r.between(o.west*10, o.east*10), r.between(o.south*10, o.north*10) // hundredths of a degree
		if o.has(float64(x)/10, float64(y)/10) {
			return trim(y, 2), trim(x, 2)
		}
	}
	return lat, lon
}
