package chart

import (
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"

	"hdqs/api/lang"
)

// Chart says what is drawn.
type Chart struct {
	ID          string // unique on the page
	Title       string
	Description string // the figures in words, for who does not see the chart
	Unit        string // of the figures, on the axis
	Language    *lang.Language
}

// svg collects the elements of a drawing.
type svg struct{ strings.Builder }

// startIn opens a drawing that shows a part of the plane.
func startIn(c *Chart, view box, class string) *svg { return open(c, class, " "+viewBox(view)) }

// viewBox is the attribute by which a drawing shows a part of the plane.
func viewBox(b box) string {
	return `viewBox="` + number1(b.left) + ` ` + number1(b.top) + ` ` + number1(b.right-b.left) + ` ` +
		number1(b.bottom-b.top) + `"`
}

// open opens a drawing, whose size attributes say.
func open(c *Chart, class, size string) *svg {
	b := new(svg)
	b.add(`<svg class="chart `, class, `" role="img"`, size,
		` aria-labelledby="`, c.ID, `-title" aria-describedby="`, c.ID, `-desc"><title id="`, c.ID, `-title">`,
		html.EscapeString(c.Title), `</title><desc id="`, c.ID, `-desc">`, html.EscapeString(c.Description), `</desc>`)
	return b
}

func (b *svg) add(parts ...string) {
	for _, p := range parts {
		b.WriteString(p)
	}
}

// text writes a text at a place; class decides where it is anchored.
func (b *svg) text(x, y float64, class, text string) {
	b.add(`<text x="`, number1(x), `" y="`, number1(y), `" class="`, class, `">`, html.EscapeString(text), `</text>`)
}

func (b *svg) end() template.HTML {
	b.add("</svg>")
	return template.HTML(b.String()) //nolint:gosec // every text is escaped where it is written
}

// isolated is a name that may be written from right to left, so that what follows it stays behind
// it. Pages have elements for that, titles of drawings have only text.
func isolated(name string) string {
	for _, r := range name {
		if r >= 0x590 && r < 0x900 || r >= 0xfb1d && r < 0xff00 {
			return "\u2068" + name + "\u2069"
		}
	}
	return name
}

// number1 writes a number with at most one digit after the point.
func number1(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}

// ticks are the marks of an axis from 0, or from least if that is negative, to most: between three
// and six steps of 1, 2 or 5 times a power of ten.
func ticks(least, most float64) []float64 {
	least, most = min(0, least), max(0, most)
	if least == most {
		most = 1
	}
	step := math.Pow(10, math.Floor(math.Log10((most-least)/3)))
	for _, times := range []float64{5, 2} {
		if (most-least)/(step*times) >= 2.5 {
			step *= times
			break
		}
	}
	var all []float64
	for k := math.Floor(least / step); ; k++ {
		all = append(all, k*step)
		if k*step >= most {
			return all
		}
	}
}

// scaleOf is what the numbers of an axis up to most are divided by, and a format that says so with
// the unit: numbers of more than six digits cannot be compared at a glance.
func scaleOf(most float64) (size float64, format string) {
	for _, scale := range lang.Scales {
		if most >= scale.Size {
			return scale.Size, scale.Axis
		}
	}
	return 1, "%s"
}

// plain writes a number of an axis.
func plain(l *lang.Language, x float64) string {
	text := strconv.FormatFloat(x, 'g', 4, 64)
	if math.Abs(x) >= 1000 && math.Abs(x) < 1e15 {
		text = strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strings.Replace(l.Number(text), "-", "\u2212", 1) // of an exponent
}
