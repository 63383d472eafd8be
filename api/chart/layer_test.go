package chart

import (
	"fmt"
	"html"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// square is a shape of four corners, with as many points on each side.
func square(code string, lon, lat, side float64, points int) Shape {
	var ring [][2]float64
	corners := [][2]float64{{lon, lat}, {lon + side, lat}, {lon + side, lat + side}, {lon, lat + side}, {lon, lat}}
	for i := range 4 {
		a, b := corners[i], corners[i+1]
		for k := range points {
			part := float64(k) / float64(points)
			ring = append(ring, [2]float64{a[0] + (b[0]-a[0])*part, a[1] + (b[1]-a[1])*part})
		}
	}
	return Shape{Code: code, Name: "Unit " + code, Rings: [][][2]float64{append(ring, corners[0])}}
}

// TestFlat: the units of a country fill the map, stay beside each other and keep their proportions.
func TestFlat(t *testing.T) {
	t.Parallel()
	l := NewFlat([]Shape{square("A", 60, 59.5, 1, 3), square("B", 61, 59.5, 1, 3)})
	if l.box.right != Width || math.Abs(l.box.bottom-Width) > 10 { // at 60° a degree of longitude is half as long
		t.Errorf("the map is %v", l.box)
	}
	a, b := l.areas[0].box, l.areas[1].box
	if a.left != 0 || a.right != b.left || b.right != Width || a.top != b.top || a.bottom != b.bottom {
		t.Errorf("the units are at %v and %v", a, b)
	}
	// Fiji is at both edges of the world.
	l = NewFlat([]Shape{square("C", 178, -18, 1.9, 2), square("D", -179.9, -18, 1.9, 2)})
	if c, d := l.areas[0].box, l.areas[1].box; c.right > d.left+1 || d.left-c.right > 120 {
		t.Errorf("the units are at %v and %v", c, d)
	}
}

// TestLayerBytes: however many points and areas there are, a layer has no more than its bound, and
// what it drops is named as missing.
func TestLayerBytes(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 40, 400, 5000} {
		var shapes []Shape
		var areas []Area
		wide := int(math.Ceil(math.Sqrt(float64(count))))
		for i := range count {
			code := fmt.Sprintf("X%05d", i)
			shapes = append(shapes, square(code, float64(i%wide)*0.01, float64(i/wide)*0.01, 0.01, 40_000/count+2))
			areas = append(areas, Area{Code: code, Name: code, Value: float64(i), Text: strconv.Itoa(i)})
		}
		for name, l := range map[string]*Layer{"flat": NewFlat(shapes), "world": NewWorld(shapes)} {
			size := 0
			for _, a := range l.areas {
				size += len(a.path) + len(a.name)
			}
			if size > maxLayer {
				t.Errorf("%d areas, %s: %d bytes", count, name, size)
			}
			drawing, _, missing := Map(&Chart{ID: "x"}, l, areas, nil)
			n := strings.Count(string(drawing.HTML()), "<path")
			if n+len(missing) != count || n != len(l.areas) {
				t.Errorf("%d areas, %s: %d drawn and %d missing", count, name, n, len(missing))
			}
			if name == "flat" && count < 1000 && len(missing) > 0 {
				t.Errorf("%d areas: %d are missing", count, len(missing))
			}
		}
	}
}

var circle = regexp.MustCompile(`<circle class="([a-z0-9]+)" cx="([-0-9.]+)" cy="([-0-9.]+)" r="([0-9.]+)"><title>([^<]*)`)

// TestPoints: all places are within the view, in no more marks than the bound, and the figures of
// the marks add up to those of the places.
func TestPoints(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	add := func(places []*Place) (sum float64, text string) {
		for _, p := range places {
			sum += p.Value
		}
		return sum, strconv.FormatFloat(sum, 'f', -1, 64)
	}
	for _, count := range []int{1, 2, 30, 399, 2000, 10_000} {
		places := make([]Place, count)
		sum := 0.0
		for i := range places {
			v := float64(random.IntN(1000))
			places[i] = Place{
				Name: fmt.Sprint("Market ", i), Lat: random.NormFloat64()*4 + 15, Lon: random.NormFloat64()*6 + 20,
				Value: v, Text: strconv.FormatFloat(v, 'f', -1, 64),
			}
			sum += v
		}
		drawing, legend := Points(&Chart{ID: "x", Title: hostile}, World(), places, add)
		counts, _ := elements(t, drawing.HTML())
		if n := counts["circle"]; n == 0 || n > maxPlaces || len(legend) > maxClasses+1 {
			t.Errorf("%d places: %d marks", count, n)
		}
		at := make([][2]float64, count)
		for i, p := range places {
			at[i][0], at[i][1] = project(p.Lon, p.Lat)
		}
		view := viewOf(at)
		total := 0.0
		for _, m := range circle.FindAllStringSubmatch(string(drawing.HTML()), -1) {
			x, _ := strconv.ParseFloat(m[2], 64)
			y, _ := strconv.ParseFloat(m[3], 64)
			if !view.touches(box{x, y, x, y}) {
				t.Errorf("%d places: a mark at %v, %v is not in %v", count, x, y, view)
			}
			v := testkit.Value(strconv.ParseFloat(m[5][strings.LastIndex(m[5], " ")+1:], 64))(t)
			total += v
		}
		testkit.Equal(t, total, sum, "%d places: the sum of the marks", count)
	}
}

// TestPointsOfMeans: several places on one spot have no mean together, so the mark says from where
// to where they go, and has no shade.
func TestPointsOfMeans(t *testing.T) {
	t.Parallel()
	places := []Place{
		{"East", 10, 20, 5, "5"},
		{hostile, 10, 20, 9, "9"},
		{"South", 10, 20, 7, "7"},
		{"Fourth", 10, 20, 6, "6"},
		{"West", -10, -20, 3, "3"},
	}
	drawing, legend := Points(&Chart{ID: "x"}, World(), places, nil)
	elements(t, drawing.HTML())
	marks := circle.FindAllStringSubmatch(string(drawing.HTML()), -1)
	if len(marks) != 2 || marks[0][1] != "several" || !strings.HasSuffix(marks[0][5], ", South and 1 more: 5 to 9") ||
		marks[1][5] != "West: 3" || !slices.Equal(legend, []Shade{{"m5", "all"}}) {
		t.Errorf("marks %q, legend %v", marks, legend)
	}
}

// TestMapOfNeighbours: a map of a few countries of one part of the world shows that part.
func TestMapOfNeighbours(t *testing.T) {
	t.Parallel()
	areas := []Area{{Code: "TCD", Text: "1"}, {Code: "SDN", Text: "2"}}
	drawing, _, missing := Map(&Chart{ID: "x"}, World(), areas, nil)
	size := regexp.MustCompile(`viewBox="([-0-9]+) ([-0-9]+) ([0-9]+) ([0-9]+)"`).FindStringSubmatch(string(drawing.HTML()))
	paths := strings.Count(string(drawing.HTML()), "<path")
	if width, err := strconv.Atoi(size[3]); err != nil || width > 400 || len(missing) > 0 || paths < 10 || paths > 60 {
		t.Errorf("shows %q with %d areas, missing %v", size, paths, missing)
	}
	drawing, _, _ = Map(&Chart{ID: "x"}, World(), []Area{{Code: "TCD"}, {Code: "COL"}, {Code: "MMR"}}, nil)
	testkit.Contains(t, drawing.HTML(), `viewBox="0 0 800 340"`, "shows")
}

// TestStart: the plane of a country has its parts side by side, wherever the edge of the map of the
// world is.
func TestStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		shapes     []Shape
		start, end float64
	}{
		{"one", []Shape{square("A", 10, 0, 5, 3)}, 10, 16},
		{
			"Russia",
			[]Shape{square("A", 19, 50, 100, 1), square("B", 119, 60, 61, 9), square("C", -180, 65, 11, 3)},
			19, 192,
		},
		{
			"United States",
			[]Shape{square("A", -125, 30, 58, 2), square("B", -180, 52, 39, 9), square("C", 172, 52, 8, 2)},
			172, 294,
		},
		{"France", []Shape{square("A", -5, 42, 13, 3), square("B", -54, 3, 3, 3), square("C", 55, -21, 1, 3)}, -54, 57},
		{
			"Fiji in one ring",
			[]Shape{{Code: "A", Rings: [][][2]float64{{{178, -18}, {-179, -18}, {-179, -17}, {178, -18}}}}},
			178, 182,
		},
		{"around the pole", []Shape{square("A", -180, -90, 360, 20)}, -180, 181},
	} {
		start := startOf(c.shapes)
		testkit.Equal(t, start, c.start, "%s begins at", c.name)
		for _, s := range c.shapes {
			for _, ring := range s.Rings {
				for _, p := range ring {
					if at := turned(p[0], start); at < c.start || at > c.end {
						t.Errorf("%s: %v is drawn at %v, which is not from %v to %v", c.name, p[0], at, c.start, c.end)
					}
				}
			}
		}
	}
}

// TestLinks: each area with a place is one link, areas keep their shapes, and the drawing is small
// enough for a page.
func TestLinks(t *testing.T) {
	t.Parallel()
	places := []Target{
		{"AFG", "Afghanistan", "/country/AFG?a&b", "m4"},
		{"SDN", `<"Sudan">`, "/country/SDN", "m2"},
		{"XXX", "Nowhere", "/country/XXX", "m2"},
	}
	drawing := string(Links(World(), places))
	for text, want := range map[string]int{
		"<a href=": 2, `href="/country/AFG?a&amp;b" tabindex="-1"`: 1, "&lt;&#34;Sudan&#34;&gt;": 1, "XXX": 0,
	} {
		testkit.Equal(t, strings.Count(drawing, text), want, "times that there is %s", text)
	}
	if len(drawing) > 30_000 {
		t.Errorf("the map of links has %d bytes", len(drawing))
	}
	square := &Layer{areas: []area{{code: "A", path: "M30 60l900 0 0 90-900 0z"}}}
	if got := square.coarser(3, 1000).areas; len(got) != 1 || got[0].path != "M10 20l300 0 0 30-300 0 0-30z" {
		t.Errorf("a rectangle at a third: %+v", got)
	}
}

// TestSpark: a line for neighbours, a dot for the last point and for one between two gaps, and a
// dashed line to a figure that can change.
func TestSpark(t *testing.T) {
	t.Parallel()
	points := []Point{{Value: 0, Known: true}, {Value: 10, Known: true}, {}, {Value: 5, Known: true}, {}, {}, {
		Value: 5, Known: true,
	}, {Value: 10, Known: true}}
	got := string(Spark(`a "line"`, points, true))
	for _, want := range []string{
		`aria-label="a &#34;line&#34;"`, `<path d="M3 29L25 3M69 16M135 16"/>`,
		`<path class="changing" d="M135 16L157 3"/>`, `<path class="dot" d="M69 16h0M157 3h0"/>`,
	} {
		testkit.Contains(t, got, want, "the drawing")
	}
	flat := []Point{{Value: 0, Known: true}, {Value: 0, Known: true}}
	if got := string(Spark("", flat, false)); strings.Contains(got, "NaN") {
		t.Error(got)
	}
}

// TestMapLinks: areas with a link are reached with the tab key, and their names have their figures;
// a map with links is no image, which would hide them.
func TestMapLinks(t *testing.T) {
	t.Parallel()
	areas := []Area{
		{Code: "AFG", Name: hostile, Value: 1, Text: "1", Link: "/browse/x?a=1&b=2"}, {Code: "SDN", Text: "2"},
	}
	drawing, _, _ := Map(&Chart{ID: "x"}, World(), areas, nil)
	text := string(drawing.HTML())
	elements(t, drawing.HTML())
	link := `<a href="/browse/x?a=1&amp;b=2"><path class="m`
	if strings.Count(text, "<a ") != 1 || !strings.Contains(text, link) || strings.Contains(text, `role="img"`) ||
		!strings.Contains(text, html.EscapeString(isolated(hostile)+": 1")+"</text></a>") {
		t.Errorf("%s", text)
	}
}
