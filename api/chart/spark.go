package chart

import (
	"html"
	"html/template"
	"strings"
)

// The size of a spark line, with room for its marks.
const (
	sparkWidth  = 160
	sparkHeight = 32
	sparkMargin = 3
)

// Spark draws a small line without an axis. title says in words what it shows. The line to the last
// point is dashed if its figure can still change.
func Spark(title string, points []Point, changing bool) template.HTML {
	view := viewBox([4]float64{0, 0, sparkWidth, sparkHeight})
	b := new(svg).add(`<svg class="spark"`, view, ` role="img" aria-label="`, html.EscapeString(title), `">`)
	least, most := span([]Series{{Points: points}})
	if least == most {
		most = least + 1
	}
	place := func(i int) string {
		x := sparkMargin + float64(i)*(sparkWidth-2*sparkMargin)/float64(max(1, len(points)-1))
		y := sparkMargin + (most-points[i].Value)/(most-least)*(sparkHeight-2*sparkMargin)
		return Digits(x) + " " + Digits(y)
	}
	last := len(points) - 1
	s := Series{Points: points}
	var line, dots strings.Builder
	for i := range points {
		if !points[i].Known {
			continue
		}
		if i == last || s.alone(i) {
			dots.WriteString("M" + place(i) + "h0")
		}
		switch {
		case i == last && changing:
		case i > 0 && points[i-1].Known:
			line.WriteString("L" + place(i))
		default:
			line.WriteString("M" + place(i))
		}
	}
	b.add(`<path d="`, line.String(), `"/>`)
	if changing && last > 0 && points[last].Known && points[last-1].Known {
		b.add(`<path class="changing" d="M`, place(last-1), `L`, place(last), `"/>`)
	}
	if dots.Len() > 0 {
		b.add(`<path class="dot" d="`, dots.String(), `"/>`)
	}
	return b.end()
}
