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
)

// hostile is a text that would run a script if it were not escaped.
const hostile = `</title><script>alert(1)</script>"'><img src=x onerror=alert(1)> & ü`

// used are the elements that charts are made of.
var used = []string{
	"svg", "title", "desc", "path", "text", "circle", "rect", "g", "pattern", "line", "ul",
	"li", "p", "bdi",
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
	bars := []Bar{{"a", 10, "10"}, {hostile, 5, "5"}, {"zero", 0, "0"}}
	drawing := Bars(&Chart{ID: "x", Title: "t"}, bars).HTML()
	if counts, _ := elements(t, drawing); counts["rect"] != 6 {
		t.Errorf("%v", counts)
	}
	var widths []string
	for _, m := range width.FindAllStringSubmatch(string(drawing), -1) {
		widths = append(widths, m[1])
	}
	if want := []string{"100.00", "50.00", "0.20"}; !slices.Equal(widths, want) {
		t.Errorf("widths %v, want %v", widths, want)
	}
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
		drawing, legend, missing := Map(&Chart{ID: "x", Title: hostile}, world, areas)
		counts, _ := elements(t, drawing.HTML())
		if counts["path"] != len(world.areas)+1 || len(missing) != 1 {
			t.Fatalf("%v of %d areas, missing %v", counts, len(areas), missing)
		}
		var values []float64
		for i := range areas {
			values = append(values, areas[i].Value)
		}
		checkClasses(t, values)
		if len(legend) == 0 || len(legend) > shades {
			t.Errorf("the legend has %d classes", len(legend))
		}
	}
	drawing, legend, _ := Map(&Chart{ID: "x"}, world, nil)
	if counts, _ := elements(t, drawing.HTML()); legend != nil || counts["path"] != len(world.areas)+1 {
		t.Error("a map without figures")
	}
}

// checkClasses fails unless greater figures have darker classes, and equal ones the same.
func checkClasses(t *testing.T, values []float64) {
	t.Helper()
	class, legend := classify(nil, values, make([]string, len(values)))
	for n := 1; n < len(legend); n++ {
		_, before, _ := strings.Cut(legend[n-1].Text, "less than ")
		if from, _, _ := strings.Cut(legend[n].Text, " "); from != before {
			t.Fatalf("the legend has a gap: %q, %q", legend[n-1].Text, legend[n].Text)
		}
	}
	for i := range values {
		for k := range values {
			less, same := values[i] < values[k], values[i] == values[k]
			if less && class[i] > class[k] || same && class[i] != class[k] {
				t.Fatalf("%v is %s, %v is %s", values[i], class[i], values[k], class[k])
			}
		}
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
		if got := plain(nil, x); got != want {
			t.Errorf("%v is %q, want %q", x, got, want)
		}
	}
	if size, word := scaleOf(6e9); size != 1e9 || word != "billion %s" {
		t.Errorf("%v %s", size, word)
	}
}

// TestBetween: classes of a map end at a number above all of one and not above any of the next.
func TestBetween(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(13, 14))
	for range 20_000 {
		low := random.NormFloat64() * math.Pow(10, float64(random.IntN(12)-3))
		high := low + random.ExpFloat64()*math.Pow(10, float64(random.IntN(12)-3))
		if x := between(low, high); low < high && (x <= low || x > high) {
			t.Fatalf("%v is not between %v and %v", x, low, high)
		}
	}
	for _, c := range [][3]float64{{1201, 1350, 1300}, {9, 10, 10}, {0, 7.25, 7}, {1e9, 6.8e9, 6e9}, {-5, -1.5, -2}} {
		if x := between(c[0], c[1]); x != c[2] {
			t.Errorf("between %v and %v: %v, want %v", c[0], c[1], x, c[2])
		}
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

// TestClassesOfMany: where most areas have the smallest figure, the others still have two classes,
// and the greatest figures always have the last one.
func TestClassesOfMany(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{[]float64{0, 0, 0, 0, 0, 0, 5, 30}, "m1 m1 m1 m1 m1 m1 m2 m3"},
		{[]float64{0, 0, 0, 7}, "m1 m1 m1 m3"},
		{[]float64{3, 9}, "m1 m3"},
		{[]float64{4, 4}, "m1 m1"},
	} {
		class, _ := classify(nil, c.values, make([]string, len(c.values)))
		if got := strings.Join(class, " "); got != c.want {
			t.Errorf("%v are %s, want %s", c.values, got, c.want)
		}
	}
}
