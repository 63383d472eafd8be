package chart

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/api/lang"
	"hdqs/internal/testkit"
)

// TestClasses: limits are round and ascend, the first and the last class have a
// figure, no figure is on the wrong side of a limit, greater figures are never lighter, and 0 is
// apart.
func TestClasses(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(13, 14))
	for range 20_000 {
		values := make([]float64, 1+random.IntN(60))
		size, width := math.Pow(10, random.Float64()*14-4), random.Float64()*6
		for i := range values {
			if values[i] = size * math.Exp(random.NormFloat64()*width); random.IntN(3) == 0 {
				values[i] = math.Floor(values[i])
			}
			if width < 1 && random.IntN(4) == 0 {
				values[i] = -values[i]
			}
		}
		limits := limitsOf(values, false)
		class, legend := classify(&Chart{}, values)
		least, most := math.Inf(1), math.Inf(-1)
		for i, v := range values {
			if (v == 0) != (class[i] == "m0") {
				t.Fatalf("%v is %s", v, class[i])
			}
			if v != 0 {
				least, most = min(least, v), max(most, v)
			}
			for k := range values {
				if v != 0 && values[k] != 0 && v < values[k] && class[i] > class[k] {
					t.Fatalf("%v is %s, %v is %s", v, class[i], values[k], class[k])
				}
			}
		}
		for n, x := range limits {
			digits, _, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'e', -1, 64), "e")
			step := math.Pow(10, math.Floor(math.Log10(most-least))-1) // limits of a narrow span have more digits
			isRound := len(digits) <= len("1.2") || math.Abs(x/step-math.Round(x/step)) < 1e-6
			if !isRound || n > 0 && x <= limits[n-1] {
				t.Fatalf("limits %v for %v to %v", limits, least, most)
			}
		}
		if n := len(limits); n > 0 && (n >= maxClasses || limits[0] <= least || limits[n-1] > most) {
			t.Fatalf("limits %v for %v to %v", limits, least, most)
		}
		if zero := slices.Contains(class, "m0"); zero != (legend[0].Class == "m0") {
			t.Fatalf("the legend begins with %v", legend[0])
		}
		for n := 1; n < len(legend); n++ {
			_, before, has := strings.Cut(legend[n-1].Text, "less than ")
			from, _, _ := strings.Cut(legend[n].Text, " to ")
			if has && strings.TrimSuffix(from, " or more") != before {
				t.Fatalf("the legend has a gap: %q, %q", legend[n-1].Text, legend[n].Text)
			}
		}
	}
}

// TestClassLimits: figures are shared out by their differences or, where most would be in one
// class, by their ratios.
func TestClassLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ values, limits []float64 }{
		{[]float64{0, 43, 950, 6187, 27_000, 527_206, 2_370_226}, []float64{100, 1000, 10_000, 100_000, 1_000_000}},
		{[]float64{0.5, 1.9, 3.4, 4.3, 5.2, 6.8, 8.7}, []float64{2, 4, 6, 8}},
		{[]float64{66, 70, 84, 87, 90}, []float64{70, 75, 80, 85, 90}},
		{[]float64{1, 1, 2, 3, 5, 8, 16, 17, 225}, []float64{3, 10, 30, 100}},
		{[]float64{-30, -5, 2, 18}, []float64{-20, -10, 0, 10}},
		{[]float64{3, 9}, []float64{4, 6, 8}},
		{[]float64{4, 4, 0}, nil},
	} {
		testkit.EqualLists(t, limitsOf(c.values, false), c.limits, "%v", c.values)
	}
	poor := []float64{0.3, 0.5, 1, 1, 2, 3, 4, 9, 50, 66, 87, 90}
	testkit.EqualLists(t, limitsOf(poor, true), []float64{20, 40, 60, 80}, "shares")
	around := &Chart{Around: 100}
	class, _ := classify(around, []float64{0, 60, 89, 100, 110, 149, 150})
	testkit.Equal(t, strings.Join(class, " "), "m1 m2 m3 m4 m5 m6 m7", "around 100")
}

// TestScheme: areas have the classes of their provider, and the legend how far these go.
func TestScheme(t *testing.T) {
	t.Parallel()
	s := &Scheme{Inform, []string{"low", "medium", "high"}}
	class, legend := s.classify([]Area{
		{Value: 6, Text: "6", Class: 3}, {Value: 2, Text: "2", Class: 1}, {Value: 1, Text: "1", Class: 1}, {Value: 9},
	})
	if !slices.Equal(class, []string{"m3", "m1", "m1", "none"}) ||
		!slices.Equal(legend, []Shade{{"m1", "low (1\u20132)"}, {"m3", "high (6)"}}) {
		t.Errorf("%v %v", class, legend)
	}
}

// TestBarsAround: bars begin at what they are around, on the side of their figures, and in both
// directions of writing.
func TestBarsAround(t *testing.T) {
	t.Parallel()
	bars := []Bar{{Name: "dry", Value: 60, Text: "60"}, {Name: "wet", Value: 120, Text: "120"}}
	for _, l := range lang.All() {
		d := Bars(&Chart{ID: "x", Around: 100, Language: l}, bars)
		elements(t, d.HTML())
		dry, wet := d.Elements[0], d.Elements[1]
		from, to := dry.At[0]+dry.At[2], wet.At[0]
		if l.IsRTL() {
			from, to = dry.At[0], wet.At[0]+wet.At[2]
		}
		if math.Abs(from-dry.Middle) > 0.01 || math.Abs(to-dry.Middle) > 0.01 || dry.Class != "below" ||
			wet.Class != "above" || math.Abs(dry.At[2]-2*wet.At[2]) > 0.01 {
			t.Errorf("%s: %+v, %+v", l.Code, dry, wet)
		}
	}
}

// TestBarsOfParts: the parts of a bar follow each other, are together as long as the bar, and have
// the classes of their positions.
func TestBarsOfParts(t *testing.T) {
	t.Parallel()
	parts, texts := []float64{25, 0, 60, 15}, []string{"a", "b", hostile, "d"}
	for _, l := range lang.All() {
		bar := Bar{Name: hostile, Value: 100, Text: "100", Parts: parts, Texts: texts}
		d := Bars(&Chart{ID: "x", Language: l}, []Bar{bar})
		counts, _ := elements(t, d.HTML())
		sum, classes := 0.0, ""
		for _, part := range d.Elements[0].AllParts() {
			sum += part.Width
			classes += part.Class
		}
		if counts["rect"] != 4 || math.Abs(sum-100) > 0.01 || classes != "m1m3m4" {
			t.Errorf("%s: %v %v %s", l.Code, counts, sum, classes)
		}
	}
}

// TestPyramid: groups stand above each other, the first at the bottom, with bars as long as their
// figures on both sides of the names.
func TestPyramid(t *testing.T) {
	t.Parallel()
	point := func(v float64) Point { return Point{Value: v, Text: "x", Known: true} }
	d := Pyramid(&Chart{ID: "x"}, "Female", "Male", []Sides{
		{"0-4", point(10), point(20)}, {hostile, point(5), Point{}},
	})
	elements(t, d.HTML())
	var bars []Element
	for _, e := range d.Elements {
		if e.Kind == Rect {
			bars = append(bars, e)
		}
	}
	if len(bars) != 3 || bars[1].At[2] != 2*bars[0].At[2] || bars[0].At[2] != 2*bars[2].At[2] ||
		bars[2].At[1] >= bars[0].At[1] || bars[0].At[0]+bars[0].At[2] >= bars[1].At[0] ||
		!strings.Contains(string(d.HTML()), `class="chart pyramid"`) {
		t.Errorf("%+v", bars)
	}
}
