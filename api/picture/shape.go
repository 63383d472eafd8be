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
	dash         string
	size         float64 // of letters
	anchor       string  // end or middle
	bold         bool
	fixed        bool // the stroke is not enlarged
	rtl          bool // the text ends at its place, and runs to the left
}

// rules are the styles of what charts consist of, as the style sheet of pages has them. A rule is
// for what has all of its words: the name of the element, its classes, and those of its drawing.
var rules = []struct {
	words string
	style
}{
	{"text", style{fill: soft, size: 12}},
	{"text bars", style{fill: ink, size: 13}},
	{"text end", style{anchor: "end"}},
	{"text middle", style{anchor: "middle"}},
	{"grid", style{fill: none, stroke: line, width: 1}},
	{"line", style{fill: none, stroke: mark, width: 2}},
	{"line s2", style{stroke: "#b4470b", dash: "8 4"}},
	{"line s3", style{stroke: "#1b7a4b", dash: "2 3"}},
	{"line s4", style{stroke: "#7b3fa0", dash: "10 3 2 3"}},
	{"line s5", style{stroke: "#8a6100", dash: "5 5"}},
	{"line s6", style{stroke: "#b01e5c", dash: "12 3"}},
	{"mark", style{fill: mark}},
	{"mark s2", style{fill: "#b4470b"}},
	{"mark s3", style{fill: "#1b7a4b"}},
	{"mark s4", style{fill: "#7b3fa0"}},
	{"mark s5", style{fill: "#8a6100"}},
	{"mark s6", style{fill: "#b01e5c"}},
	{"line changing", style{dash: "3 4"}},
	{"mark changing", style{fill: back, stroke: mark, width: 1.5}},
	{"bar", style{fill: mark}},
	{"track", style{fill: "#f4f6f8"}},
	{"path map", style{stroke: edge, width: 0.75, fixed: true}},
	{"path map none", style{fill: hatched}},
	{"path points none", style{fill: "#e3e7eb"}},
	{"circle points", style{stroke: ink, width: 1, fixed: true}},
	{"m1", style{fill: "#e0effa"}},
	{"m2", style{fill: "#3f8cc0"}},
	{"m3", style{fill: "#0a3a63"}},
	{"several", style{fill: none, stroke: mark, width: 2, fixed: true}},
}

// styleOf is the style of what has some words.
func styleOf(words []string) *style {
	s := &style{fill: ink}
	for i := range rules {
		r := &rules[i]
		if slices.ContainsFunc(strings.Fields(r.words), func(w string) bool { return !slices.Contains(words, w) }) {
			continue
		}
		s.fill, s.stroke, s.dash = cmp.Or(r.fill, s.fill), cmp.Or(r.stroke, s.stroke), cmp.Or(r.dash, s.dash)
		s.width, s.size, s.anchor = cmp.Or(r.width, s.width), cmp.Or(r.size, s.size), cmp.Or(r.anchor, s.anchor)
		s.fixed = s.fixed || r.fixed
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
	dashes := strings.Fields(s.dash)
	for i := range dashes {
		dashes[i] = digits(number(dashes[i]) * scale)
	}
	large.dash = strings.Join(dashes, " ")
	return &large
}

func rectangle(x, y, width, height float64) ring {
	return ring{[]point{{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}}, true}
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

// pathOf reads the path of a chart: straight lines, absolute or relative.
func pathOf(d string, m matrix) (rings []ring) {
	var at, first point
	command := byte('M')
	next := func() (x float64) {
		x, d = leading(d)
		return x
	}
	for {
		d = strings.TrimLeft(d, " ,\n")
		if d == "" {
			return rings
		}
		if c := d[0]; c >= 'A' {
			command, d = c, d[1:]
			if c == 'z' || c == 'Z' {
				if n := len(rings); n > 0 {
					rings[n-1].closed = true
				}
				at = first
				continue
			}
		}
		before := len(d)
		from := at
		if command < 'a' {
			from = point{}
		}
		switch command {
		case 'H', 'h':
			at.x = from.x + next()
		case 'V', 'v':
			at.y = from.y + next()
		default:
			at.x = from.x + next()
			at.y = from.y + next()
		}
		if len(d) == before {
			return rings // what no chart writes
		}
		if n := len(rings); n == 0 || command == 'M' || command == 'm' || rings[n-1].closed {
			rings = append(rings, ring{})
			first = at
		}
		last := &rings[len(rings)-1]
		last.points = append(last.points, m.at(at.x, at.y))
		switch command { // what follows a beginning are lines
		case 'M':
			command = 'L'
		case 'm':
			command = 'l'
		}
	}
}

// leading reads the number that a text begins with.
func leading(text string) (x float64, rest string) {
	text = strings.TrimLeft(text, " ,\n")
	n := 0
	for n < len(text) && (text[n] >= '0' && text[n] <= '9' || text[n] == '.' || n == 0 && text[n] == '-') {
		n++
	}
	return number(text[:n]), text[n:]
}

// number is a number, 0 for what is none.
func number(text string) float64 {
	x, _ := strconv.ParseFloat(text, 64)
	return x
}

// digits writes a number with at most one decimal.
func digits(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}
