package chart

import (
	"bytes"
	"html"
	"html/template"
	"slices"
	"strconv"
	"strings"
)

// Drawing is a chart as data: HTML writes it for a page, package picture draws it.
type Drawing struct {
	Class    string     // lines, bars, map or map points
	View     [4]float64 // what is shown of the plane: left, top, width and height; bars are as wide as the page
	Digits   int        // after the point, with which places are shown: one, or none where that is 0; or two
	Elements []Element  // in the order in which they are drawn
	Name     string     // of a panel
	Panels   []*Drawing // beside each other, in place of elements

	about Chart
}

// Element is something that is drawn: what its kind needs of this.
type Element struct {
	Kind         Kind
	Class, Title string         // of the style sheet, and for readers who point at it
	At           [4]float64     // x and y, then width and height, or the radius
	Lines        [][][2]float64 // of a path, through points
	Text, Figure string
	RTL          bool    // a row begins on the right
	Link         string  // to more about an area
	Parts        []Part  // of a row, in place of its bar
	Middle       float64 // of a row: where figures are neither above nor below, in per cent; 0 without one

	area  string  // of a path: an outline as its layer has it
	scale float64 // of a text that says so: what the numbers of an axis are divided by
}

// Part is a part of a bar: where it begins and how wide it is, in per cent of the page's width.
type Part struct {
	Class, Title string
	At, Width    float64
}

// Kind is the name of an element in SVG, or Row: a bar with its name and figure above it. Its x and
// width are parts of the page's width in per cent, its y is that of the name, and its last place is
// the top of the bar.
type Kind string

// The kinds of elements.
const (
	Path   Kind = "path"
	Rect   Kind = "rect"
	Circle Kind = "circle"
	Text   Kind = "text"
	Row    Kind = "row"
)

// places are the names of what At has.
var places = map[Kind][]string{Rect: {"x", "y", "width", "height"}, Circle: {"cx", "cy", "r"}, Text: {"x", "y"}}

// Points are the lines of a path, or the rings around an area, which are closed.
func (e *Element) Points() (lines [][][2]float64, closed bool) {
	if e.area != "" {
		return ringsOf(e.area), true
	}
	return e.Lines, false
}

// newDrawing is a drawing with room for elements.
func newDrawing(c *Chart, class string, view box, room int) *Drawing {
	return &Drawing{
		Class: class, View: [4]float64{view.left, view.top, view.right - view.left, view.bottom - view.top},
		Digits: 1, Elements: make([]Element, 0, room), about: *c,
	}
}

func (d *Drawing) add(e Element) { d.Elements = append(d.Elements, e) }

// svg writes drawings.
type svg struct {
	strings.Builder
	digits int

	hatch string // id of the pattern of areas without a figure

	tip, left, below float64 // size of the text of a link, and where it is
}

// tipSize is how many letters of the text of a link are as wide as a map.
const tipSize = 55

// HTML is the drawing as a part of a page.
func (d *Drawing) HTML() template.HTML {
	b := new(svg)
	if d.Panels == nil {
		return b.drawing(d).end()
	}
	b.add(`<ul class="panels">`)
	for _, one := range d.Panels {
		b.add(`<li><p><bdi>`, html.EscapeString(one.Name), `</bdi></p>`).drawing(one).add(`</svg></li>`)
	}
	b.add(`</ul>`)
	return template.HTML(b.String()) //nolint:gosec // every text is escaped where it is written
}

func (b *svg) end() template.HTML {
	b.add("</svg>")
	return template.HTML(b.String()) //nolint:gosec // every text is escaped where it is written
}

// drawing writes all but the end of a drawing.
func (b *svg) drawing(d *Drawing) *svg {
	c, view := &d.about, d.View
	role := "img"
	linked := slices.ContainsFunc(d.Elements, func(e Element) bool { return e.Link != "" })
	if b.tip = d.View[2] / tipSize; linked {
		role = "group" // an image would hide its links
		view[3] += 2 * b.tip
		b.left, b.below = d.View[0]+b.tip, d.View[1]+view[3]-b.tip/2
	}
	size := viewBox(view)
	if strings.HasPrefix(d.Class, "bars") {
		size = ` width="100%" height="` + Digits(d.View[3]) + `"`
	}
	b.Grow(500 + len(d.Elements)*map[string]int{"map": 300, "map points": 150, "lines": 100, "bars": 420}[d.Class])
	b.digits = d.Digits
	b.add(`<svg class="chart `, d.Class, `" role="`, role, `"`, size,
		` aria-labelledby="`, c.ID, `-title" aria-describedby="`, c.ID, `-desc"><title id="`, c.ID, `-title">`,
		html.EscapeString(c.Title), `</title><desc id="`, c.ID, `-desc">`, html.EscapeString(c.Description), `</desc>`)
	// What areas without a figure are filled with: no shade, since each would be a class.
	if strings.HasPrefix(d.Class, "map") && d.Class != "map points" {
		b.hatch = c.ID + "-hatch" // each map has its own, since it is as large as the map is shown
		b.add(`<pattern id="`, b.hatch, `" width="8" height="8" patternUnits="userSpaceOnUse" `,
			`patternTransform="rotate(45) scale(`, fine(d.View[2]/800), `)"><line y2="8"/></pattern>`)
	}
	if role == "group" {
		b.add(`<g font-size="`, fine(b.tip), `">`)
	}
	for i := range d.Elements {
		b.element(&d.Elements[i])
	}
	if role == "group" {
		b.add(`</g>`)
	}
	return b
}

// viewBox is the attribute by which a drawing shows a part of the plane.
func viewBox(v [4]float64) string {
	return ` viewBox="` + Digits(v[0]) + " " + Digits(v[1]) + " " + Digits(v[2]) + " " + Digits(v[3]) + `"`
}

func (b *svg) add(parts ...string) *svg {
	for _, p := range parts {
		b.WriteString(p)
	}
	return b
}

func (b *svg) number(x float64) *svg {
	var room [24]byte
	text := strconv.AppendFloat(room[:0], x, 'f', b.digits, 64)
	if b.digits == 1 {
		text = bytes.TrimSuffix(text, []byte(".0"))
	}
	b.Write(text)
	return b
}

func (b *svg) element(e *Element) {
	if e.Kind == Row {
		b.row(e)
		return
	}
	if e.Link != "" {
		// The text is seen where the link is pointed at or has the focus, and is its name.
		link := *e
		link.Link, link.Title = "", ""
		b.add(`<a href="`, html.EscapeString(e.Link), `">`).element(&link)
		b.add(`<text class="tip" x="`, Digits(b.left), `" y="`, Digits(b.below), `">`)
		b.add(html.EscapeString(e.Title), `</text></a>`)
		return
	}
	b.add("<", string(e.Kind))
	if e.Kind != Text {
		b.add(` class="`, e.Class, `"`)
	}
	if e.Class == "none" && b.hatch != "" {
		b.add(` fill="url(#`, b.hatch, `)"`)
	}
	for i, place := range places[e.Kind] {
		b.add(" ", place, `="`).number(e.At[i]).add(`"`)
	}
	switch e.Kind {
	case Path:
		b.add(` d="`, e.area)
		for _, line := range e.Lines {
			b.line(line, e.Class == "grid")
		}
		b.add(`"`)
	case Text:
		b.add(` class="`, e.Class, `"`)
		if e.scale != 0 {
			b.add(` data-size="`, strconv.FormatFloat(e.scale, 'f', -1, 64), `"`)
		}
		b.add(">", html.EscapeString(e.Text), "</text>")
		return
	}
	if e.Title == "" {
		b.add("/>")
		return
	}
	b.add("><title>", html.EscapeString(e.Title), "</title></", string(e.Kind), ">")
}

func (b *svg) line(points [][2]float64, level bool) {
	for i, p := range points {
		if i > 0 && level {
			b.add("H").number(p[0])
			continue
		}
		b.add([2]string{"M", "L"}[min(i, 1)]).number(p[0]).add(" ").number(p[1])
	}
}

// AllParts are the parts of a row's bar.
func (e *Element) AllParts() []Part {
	if e.Parts != nil {
		return e.Parts
	}
	return []Part{{Class: strings.TrimSpace("bar " + e.Class), At: e.At[0], Width: e.At[2]}}
}

// row writes a bar with its name and figure. Texts are of the page's size, so that they can be read
// on a phone.
func (b *svg) row(e *Element) {
	name, figure := `<text x="0" y="`, `<text class="end" x="100%" y="`
	if e.RTL {
		name, figure = figure, name
	}
	top, below := Digits(e.At[1]), Digits(e.At[3])
	b.add(`<g><title>`, html.EscapeString(e.Title), `</title>`, name, top, `">`, html.EscapeString(e.Text), `</text>`,
		figure, top, `">`, html.EscapeString(e.Figure), `</text><rect class="track" x="0" y="`, below,
		`" width="100%" height="8"/>`)
	for _, part := range e.AllParts() {
		b.add(`<rect class="`, part.Class, `" x="`, fine(part.At), `%" y="`, below, `" width="`, fine(part.Width),
			`%" height="8"`)
		if part.Title == "" {
			b.add(`/>`)
			continue
		}
		b.add(`><title>`, html.EscapeString(part.Title), `</title></rect>`)
	}
	if e.Middle != 0 {
		b.add(`<rect class="middle-line" x="`, fine(e.Middle), `%" y="`, Digits(e.At[3]-MiddleOver),
			`" width="1.5" height="`, Digits(8+2*MiddleOver), `"/>`)
	}
	b.add(`</g>`)
}

// Digits writes a number with at most one digit after the point.
func Digits(x float64) string { return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0") }

// fine writes a place on a map that may be shown many times larger than the whole world.
func fine(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }
