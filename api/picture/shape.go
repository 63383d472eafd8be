package picture

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

type point struct{ x, y float64 }

// ring is a line through points. One that is closed is an area.
type ring struct {
	points []point
	closed bool
}

// matrix moves and enlarges.
type matrix struct{ scale, dx, dy float64 }

func (m matrix) at(x, y float64) point { return point{x*m.scale + m.dx, y*m.scale + m.dy} }

func (m matrix) rectangle(x, y, width, height float64) ring {
	return ring{[]point{m.at(x, y), m.at(x+width, y), m.at(x+width, y+height), m.at(x, y+height)}, true}
}

// rounded is a place as pages show it, so that a picture is the same.
func rounded(x float64, digits int) float64 {
	if x != math.Trunc(x) {
		x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'f', digits, 64), 64)
	}
	return x
}

func (m matrix) rings(lines [][][2]float64, closed bool, digits int) []ring {
	rings := make([]ring, len(lines))
	for i, line := range lines {
		rings[i] = ring{make([]point, len(line)), closed}
		for k, p := range line {
			rings[i].points[k] = m.at(rounded(p[0], digits), rounded(p[1], digits))
		}
	}
	return rings
}

// sink takes what is drawn. The places are on the picture.
type sink interface {
	shape(rings []ring, s *style, title string)
	text(at point, s *style, text string)
	clip(to *area) // of what follows; nil for the whole picture
}

// Colours of pictures: those of light pages.
const (
	ink, soft, line, edge, back = "#1b2530", "#46515d", "#d3dae1", "#6b7885", "#ffffff"
	mark, warn, warnEdge        = "#1f6ba3", "#fff6dd", "#b07800"
	none                        = "none"
	hatched                     = "url(#hatch)" // what areas without a figure are filled with
)

// style is how something is drawn. What is empty is that of the rule before.
type style struct {
	fill, stroke string
	width        float64 // of the stroke
	dash         []float64
	size         float64 // of letters
	anchor       string  // end or middle
	bold         bool
	fixed        bool // the stroke is not enlarged
	rtl          bool // the text ends at its place, and runs to the left
}

// rules are the styles of what charts consist of, as the style sheet of pages has them. A rule is
// for what has all of its words: the name of the element, its classes, and those of its drawing.
var rules = []struct {
	words []string
	style
}{
	{[]string{"text"}, style{fill: soft, size: 12}},
	{[]string{"text", "bars"}, style{fill: ink, size: 13}},
	{[]string{"text", "end"}, style{anchor: "end"}},
	{[]string{"text", "middle"}, style{anchor: "middle"}},
	{[]string{"grid"}, style{fill: none, stroke: line, width: 1}},
	{[]string{"line"}, style{fill: none, stroke: mark, width: 2}},
	{[]string{"line", "s2"}, style{stroke: "#b4470b", dash: []float64{8, 4}}},
	{[]string{"line", "s3"}, style{stroke: "#1b7a4b", dash: []float64{2, 3}}},
	{[]string{"line", "s4"}, style{stroke: "#7b3fa0", dash: []float64{10, 3, 2, 3}}},
	{[]string{"line", "s5"}, style{stroke: "#8a6100", dash: []float64{5, 5}}},
	{[]string{"line", "s6"}, style{stroke: "#b01e5c", dash: []float64{12, 3}}},
	{[]string{"mark"}, style{fill: mark}},
	{[]string{"mark", "s2"}, style{fill: "#b4470b"}},
	{[]string{"mark", "s3"}, style{fill: "#1b7a4b"}},
	{[]string{"mark", "s4"}, style{fill: "#7b3fa0"}},
	{[]string{"mark", "s5"}, style{fill: "#8a6100"}},
	{[]string{"mark", "s6"}, style{fill: "#b01e5c"}},
	{[]string{"line", "changing"}, style{dash: []float64{3, 4}}},
	{[]string{"mark", "changing"}, style{fill: back, stroke: mark, width: 1.5}},
	{[]string{"bar"}, style{fill: mark}},
	{[]string{"bar", "apart"}, style{fill: "#5b6b7a"}},
	{[]string{"bar", "below"}, style{fill: "#bf812d"}},
	{[]string{"bar", "above"}, style{fill: "#35978f"}},
	{[]string{"middle-line"}, style{fill: ink}},
	{[]string{"track"}, style{fill: "#f4f6f8"}},
	{[]string{"path", "map"}, style{stroke: edge, width: 0.75, fixed: true}},
	{[]string{"path", "map", "none"}, style{fill: hatched}},
	{[]string{"path", "map", "disputed"}, style{fill: none, stroke: back, width: 1.5, dash: []float64{2, 3}}},
	{[]string{"path", "points", "none"}, style{fill: "#e3e7eb"}},
	{[]string{"circle", "points"}, style{stroke: ink, width: 1, fixed: true}},
	{[]string{"m0"}, style{fill: "#f6f1e4"}},
	{[]string{"m1"}, style{fill: "#e1effa"}},
	{[]string{"m2"}, style{fill: "#c9e0f2"}},
	{[]string{"m3"}, style{fill: "#a9cde9"}},
	{[]string{"m4"}, style{fill: "#7fb5dc"}},
	{[]string{"m5"}, style{fill: "#5299cb"}},
	{[]string{"m6"}, style{fill: "#2f7dba"}},
	{[]string{"m7"}, style{fill: "#1a62a0"}},
	{[]string{"m8"}, style{fill: "#0d4780"}},
	{[]string{"m9"}, style{fill: "#072f5c"}},
	{[]string{"m1", "inform"}, style{fill: "#fef0d9"}},
	{[]string{"m2", "inform"}, style{fill: "#fdcc8a"}},
	{[]string{"m3", "inform"}, style{fill: "#fc8d59"}},
	{[]string{"m4", "inform"}, style{fill: "#e34a33"}},
	{[]string{"m5", "inform"}, style{fill: "#b30000"}},
	{[]string{"m1", "phases"}, style{fill: "#cdfacd"}},
	{[]string{"m2", "phases"}, style{fill: "#fae61e"}},
	{[]string{"m3", "phases"}, style{fill: "#e67800"}},
	{[]string{"m4", "phases"}, style{fill: "#c80000"}},
	{[]string{"m5", "phases"}, style{fill: "#640000"}},
	{[]string{"m1", "around"}, style{fill: "#8c510a"}},
	{[]string{"m2", "around"}, style{fill: "#bf812d"}},
	{[]string{"m3", "around"}, style{fill: "#dfc27d"}},
	{[]string{"m4", "around"}, style{fill: "#f5f5f5"}},
	{[]string{"m5", "around"}, style{fill: "#80cdc1"}},
	{[]string{"m6", "around"}, style{fill: "#35978f"}},
	{[]string{"m7", "around"}, style{fill: "#01665e"}},
	{[]string{"several"}, style{fill: none, stroke: mark, width: 2, fixed: true}},
}

// styleOf is the style of what has some words.
func styleOf(text string) *style {
	s, given := &style{fill: ink}, strings.Fields(text)
	for _, r := range rules {
		if slices.ContainsFunc(r.words, func(w string) bool { return !slices.Contains(given, w) }) {
			continue
		}
		s.fill, s.stroke, s.width = cmp.Or(r.fill, s.fill), cmp.Or(r.stroke, s.stroke), cmp.Or(r.width, s.width)
		s.size, s.anchor, s.fixed = cmp.Or(r.size, s.size), cmp.Or(r.anchor, s.anchor), s.fixed || r.fixed
		if r.dash != nil {
			s.dash = r.dash
		}
	}
	return s
}

// enlarged is the style in another size.
func (s *style) enlarged(scale float64) *style {
	large := *s
	large.size *= scale
	if s.fixed {
		return &large
	}
	large.width *= scale
	large.dash = slices.Clone(s.dash)
	for i := range large.dash {
		large.dash[i] = rounded(large.dash[i]*scale, 1)
	}
	return &large
}

// circle is a circle as far as the eye can tell.
func circle(c point, radius float64) ring {
	const corners = 24
	r := ring{closed: true}
	for i := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		r.points = append(r.points, point{c.x + radius*cos, c.y + radius*sin})
	}
	return r
}
