package chart

import (
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// hostile is a text that would run a script if it were not escaped.
const hostile = `</title><script>alert(1)</script>"'><img src=x onerror=alert(1)> & ü`

// used are the elements that charts are made of.
var used = []string{
	"svg", "title", "desc", "path", "text", "circle", "rect", "g", "pattern", "line", "ul",
	"li", "p", "bdi", "a",
}

// elements counts the elements of a drawing by name, and collects its texts. It fails if the
// drawing is not well formed, or has an element that charts do not use.
func elements(t *testing.T, drawing template.HTML) (counts map[string]int, texts []string) {
	t.Helper()
	counts = map[string]int{}
	d := xml.NewDecoder(strings.NewReader(string(drawing)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return counts, texts
		}
		if err != nil {
			t.Fatalf("%v in %.300s", err, drawing)
		}
		switch x := token.(type) {
		case xml.StartElement:
			counts[x.Name.Local]++
			if !slices.Contains(used, x.Name.Local) {
				t.Fatalf("an element %s in %.300s", x.Name.Local, drawing)
			}
			for _, a := range x.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style" {
					t.Errorf("an attribute %s", a.Name.Local)
				}
			}
		case xml.CharData:
			texts = append(texts, string(x))
		}
	}
}

func randomSeries(random *rand.Rand, labels int) (s Series, known int) {
	s.Name = hostile
	for range labels {
		p := Point{Value: random.NormFloat64() * math.Pow(10, float64(random.IntN(12))), Known: random.IntN(4) > 0}
		p.Text = strconv.FormatFloat(p.Value, 'f', -1, 64)
		if p.Known {
			known++
		}
		s.Points = append(s.Points, p)
	}
	return s, known
}

// TestLines draws random series: each known point has a mark with its figure, at a height that
// follows the figures. Of few labels the marks are columns.
func TestLines(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	height := regexp.MustCompile(`cy="([-0-9.]+)"`)
	for range 300 {
		labels := make([]string, FewLabels+random.IntN(maxMarks-FewLabels))
		for i := range labels {
			labels[i] = fmt.Sprint(2000 + i)
		}
		s, known := randomSeries(random, len(labels))
		drawing := Lines(&Chart{ID: "x", Title: hostile, Description: hostile}, labels, []Series{s}).HTML()
		counts, texts := elements(t, drawing)
		if counts["circle"] != known {
			t.Fatalf("%d marks for %d figures", counts["circle"], known)
		}
		if !slices.Contains(texts, hostile) {
			t.Errorf("the title is not in %q", texts)
		}
		heights := height.FindAllStringSubmatch(string(drawing), -1)
		k := 0
		var last, lastValue float64
		for _, p := range s.Points {
			if !p.Known {
				continue
			}
			y, err := strconv.ParseFloat(heights[k][1], 64)
			if err != nil || y < 0 || y > lineHeight {
				t.Fatalf("a mark at height %v: %v", y, err)
			}
			if k > 0 && (p.Value > lastValue && y > last || p.Value < lastValue && y < last) {
				t.Fatalf("%v is at %v, and %v at %v", p.Value, y, lastValue, last)
			}
			last, lastValue = y, p.Value
			k++
		}
	}
}

// TestColumns: with few labels there is a column for each figure, as high as the figure is great.
func TestColumns(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 10))
	size := regexp.MustCompile(`<rect class="mark s(\d)"[^>]* height="([0-9.]+)"`)
	for range 300 {
		labels := make([]string, 1+random.IntN(FewLabels-1))
		all := make([]Series, 1+random.IntN(Together))
		var want []float64
		for n := range all {
			all[n], _ = randomSeries(random, len(labels))
			for _, p := range all[n].Points {
				if p.Known {
					want = append(want, math.Abs(p.Value))
				}
			}
		}
		drawing := Lines(&Chart{ID: "x", Title: hostile}, labels, all).HTML()
		elements(t, drawing)
		columns := size.FindAllStringSubmatch(string(drawing), -1)
		if len(columns) != len(want) {
			t.Fatalf("%d columns for %d figures", len(columns), len(want))
		}
		for i := range columns {
			for k := range columns {
				a, _ := strconv.ParseFloat(columns[i][2], 64)
				b, _ := strconv.ParseFloat(columns[k][2], 64)
				if want[i] < want[k] && a > b {
					t.Fatalf("%v is %v high, and %v is %v high", want[i], a, want[k], b)
				}
			}
		}
	}
}

// TestPanels: there is a drawing for each series, all with the same scale.
func TestPanels(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 12))
	labels, all := make([]string, 40), make([]Series, 5)
	for n := range all {
		all[n], _ = randomSeries(random, len(labels))
	}
	drawing := Panels(&Chart{ID: "x", Title: hostile}, labels, all).HTML()
	counts, _ := elements(t, drawing)
	marks := regexp.MustCompile(`class="end">[^<]*`).FindAllString(string(drawing), -1)
	if counts["svg"] != len(all) || len(marks)%len(all) != 0 ||
		!slices.Equal(marks[:len(marks)/5], marks[len(marks)/5*4:]) {
		t.Errorf("%v, axes %q", counts, marks)
	}
}

func TestBars(t *testing.T) {
	t.Parallel()
	width := regexp.MustCompile(`class="bar"[^>]* width="([0-9.]+)%"`)
	bars := []Bar{
		{Name: "a", Value: 10, Text: "10"}, {Name: hostile, Value: 5, Text: "5"}, {Name: "zero", Text: "0"},
	}
	drawing := Bars(&Chart{ID: "x", Title: "t"}, bars).HTML()
	if counts, _ := elements(t, drawing); counts["rect"] != 6 {
		t.Errorf("%v", counts)
	}
	var widths []string
	for _, m := range width.FindAllStringSubmatch(string(drawing), -1) {
		widths = append(widths, m[1])
	}
	testkit.EqualLists(t, widths, []string{"100.00", "50.00", "0.20"}, "widths")
}

// TestMap: each area is drawn once or named as missing, and its class follows its figure. The
// disputed borders are one path more.
func TestMap(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	world := World()
	for range 50 {
		areas := []Area{{Code: "XXX", Name: hostile, Text: "1", Value: 1}}
		for _, w := range world.areas {
			if random.IntN(3) > 0 {
				v := math.Floor(random.ExpFloat64() * 10)
				a := Area{Code: w.code, Name: hostile, Value: v, Text: fmt.Sprint(v)}
				areas = append(areas, a)
			}
		}
		drawing, legend, missing := Map(&Chart{ID: "x", Title: hostile}, world, areas, nil)
		counts, _ := elements(t, drawing.HTML())
		if counts["path"] != len(world.small().areas)+1 || len(missing) > 7 {
			t.Fatalf("%v of %d areas, missing %v", counts, len(areas), missing)
		}
		if len(legend) == 0 || len(legend) > maxClasses+1 {
			t.Errorf("the legend has %d classes", len(legend))
		}
	}
	drawing, legend, _ := Map(&Chart{ID: "x"}, world, nil, nil)
	if counts, _ := elements(t, drawing.HTML()); legend != nil || counts["path"] != len(world.small().areas)+1 {
		t.Error("a map without figures")
	}
}

// TestProject: the map is as wide as the equator and symmetric, and countries are where they are.
func TestProject(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ lon, lat, x, y float64 }{
		{0, 0, Width / 2, Height / 2.0},
		{-180, 0, 0, Height / 2.0},
		{180, 0, Width, Height / 2.0},
		{0, 90, Width / 2, 0},
		{0, -90, Width / 2, Height},
	} {
		if x, y := project(c.lon, c.lat); math.Abs(x-c.x) > 0.01 || math.Abs(y-c.y) > 0.01 {
			t.Errorf("%v, %v is at %v, %v, want %v, %v", c.lon, c.lat, x, y, c.x, c.y)
		}
	}
	// Kabul is in the box around the path of Afghanistan.
	x, y := project(69.2, 34.5)
	areas := World().areas
	i := slices.IndexFunc(areas, func(a area) bool { return a.code == "AFG" })
	if !areas[i].box.touches(box{x, y, x, y}) {
		t.Errorf("%v, %v is not in Afghanistan", x, y)
	}
}

func TestTicks(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		least, most := 0.0, math.Pow(10, random.Float64()*14-3)
		if random.IntN(3) == 0 {
			least = -most * random.Float64()
		}
		marks := ticks(least, most)
		if n := len(marks); n < 3 || n > 9 || marks[0] > least || marks[n-1] < most {
			t.Fatalf("from %v to %v: %v", least, most, marks)
		}
	}
	if got := ticks(0, 0); got[0] != 0 || got[len(got)-1] < 1 {
		t.Errorf("without figures: %v", got)
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{
		0: "0", 12: "12", 1500: "1\u202f500", 2e6: "2\u202f000\u202f000", -200000: "\u2212200\u202f000", 0.25: "0.25",
		1234.5: "1\u202f234.5",
	} {
		testkit.Equal(t, plain(nil, x), want, "%v", x)
	}
	if size, word := scaleOf(6e9); size != 1e9 || word != "billion %s" {
		t.Errorf("%v %s", size, word)
	}
}

// TestLinesAlone: in a chart of too many figures for a mark each, a figure between two gaps still
// has one, since no line leads to it.
func TestLinesAlone(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		labels := make([]string, maxMarks/2+random.IntN(300))
		var all []Series
		alone := 0
		for range 3 {
			s := Series{Name: "x", Points: make([]Point, len(labels))}
			text := "."
			for i := range s.Points {
				s.Points[i].Known = random.IntN(3) == 0
				text += map[bool]string{true: "x", false: "."}[s.Points[i].Known]
			}
			alone += strings.Count(strings.ReplaceAll(text+".", ".", ".."), ".x.")
			all = append(all, s)
		}
		counts, _ := elements(t, Lines(&Chart{ID: "x"}, labels, all).HTML())
		if counts["circle"] != alone || alone == 0 {
			t.Fatalf("%d marks for %d figures between gaps, of %d labels", counts["circle"], alone, len(labels))
		}
	}
	one := []Series{{Points: []Point{{Known: true, Text: "7"}}}}
	if counts, _ := elements(t, Lines(&Chart{ID: "x"}, make([]string, 1), one).HTML()); counts["rect"] != 1 {
		t.Errorf("a chart of one figure: %v", counts)
	}
}

// TestBarYear: the longest of names that are too long lose their ends.
func TestBarYear(t *testing.T) {
	t.Parallel()
	drawn := Bars(&Chart{ID: "x"}, []Bar{
		{Name: "Democratic Republic of the Congo", After: []string{"2018"}, Value: 1, Text: "1"},
		{Name: "Chad", After: []string{"2019"}, Value: 2, Text: "2"},
		{Name: strings.Repeat("n", 40), Value: 1, Text: "1"},
		{Name: "Democratic Republic of the Congo", After: []string{"All sectors together", "male"}, Text: "1"},
	})
	for i, want := range []string{
		"Democratic Republic of the Co…, 2018", "Chad, 2019", strings.Repeat("n", 35) + "…",
		"Democratic Re…, All sectors t…, male",
	} {
		testkit.Equal(t, drawn.Elements[i].Text, want, "")
	}
}
