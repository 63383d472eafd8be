package picture

import (
	"strings"

	"hdqs/api/chart"
)

// area is a part of a picture.
type area struct{ x, y, width, height float64 }

// draw draws a chart into an area, or its panels beside each other, each below its name.
func (in area) draw(to sink, d *chart.Drawing) {
	count := len(d.Panels)
	if count == 0 {
		in.fit(to, d, 0.5)
		return
	}
	columns, best := 1, 0.0
	const gap, head = 16, 24
	view := d.Panels[0].View
	for n := 1; n <= count; n++ { // as many as make them largest
		rows := float64((count + n - 1) / n)
		scale := min((in.width/float64(n)-gap)/view[2], (in.height/rows-head)/view[3])
		if scale > best {
			columns, best = n, scale
		}
	}
	rows := (count + columns - 1) / columns
	wide, high := in.width/float64(columns), in.height/float64(rows)
	for i, one := range d.Panels {
		x, y := in.x+float64(i%columns)*wide, in.y+float64(i/columns)*high
		to.text(point{x, y + 16}, &style{fill: ink, size: 17, bold: true}, one.Name)
		area{x, y + head, wide - gap, high - head}.fit(to, one, 0)
	}
}

// fit draws a chart as large as fits into an area. shift is the part of the room beside it that is
// on its left.
func (in area) fit(to sink, d *chart.Drawing, shift float64) {
	view := d.View
	scale := min(in.width/max(1, view[2]), in.height/max(1, view[3]))
	if strings.HasPrefix(d.Class, "bars") { // the card has as many as there is room for
		view[2], scale = barWide, in.width/barWide
	}
	left := in.x + (in.width-scale*view[2])*shift
	if strings.HasPrefix(d.Class, "map") {
		to.clip(&area{left, in.y, scale * view[2], scale * view[3]})
		defer to.clip(nil)
	}
	m := matrix{scale, left - view[0]*scale, in.y - view[1]*scale}
	for _, e := range d.Elements {
		for k, x := range e.At {
			e.At[k] = rounded(x, d.Digits)
		}
		x, y, width := e.At[0], e.At[1], e.At[2]
		styled := func(class string) *style {
			return styleOf(d.Class + " " + string(e.Kind) + " " + class).enlarged(scale)
		}
		s := styled(e.Class)
		switch e.Kind {
		case chart.Path:
			lines, closed := e.Points()
			to.shape(m.rings(lines, closed, d.Digits), s, e.Title)
		case chart.Rect:
			to.shape([]ring{m.rectangle(x, y, width, e.At[3])}, s, e.Title)
		case chart.Circle:
			to.shape([]ring{circle(m.at(x, y), width*scale)}, s, e.Title)
		case chart.Text:
			to.text(m.at(x, y), s, e.Text)
		case chart.Row:
			for i, text := range [2]string{e.Text, e.Figure} {
				if e.RTL != (i == 1) {
					to.text(m.at(barWide, y), styled("text end"), text)
				} else {
					to.text(m.at(0, y), styled("text"), text)
				}
			}
			to.shape([]ring{m.rectangle(0, e.At[3], barWide, 8)}, styled("track"), "")
			for _, part := range e.AllParts() {
				bar := m.rectangle(part.At/100*barWide, e.At[3], part.Width/100*barWide, 8)
				to.shape([]ring{bar}, styled(part.Class), part.Title)
			}
			if e.Middle != 0 {
				line := m.rectangle(e.Middle/100*barWide, e.At[3]-chart.MiddleOver, 1.5, 8+2*chart.MiddleOver)
				to.shape([]ring{line}, styled("middle-line"), "")
			}
		}
	}
}
