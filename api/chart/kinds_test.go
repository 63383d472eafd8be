package chart

import (
	"math"
	"strings"
	"testing"

	"hdqs/api/lang"
)

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
