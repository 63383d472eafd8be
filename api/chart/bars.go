package chart

import (
	"html"
	"html/template"
	"strconv"
	"unicode/utf8"
)

// Bar is a bar with its name and figure.
type Bar struct {
	Name  string
	Value float64
	Text  string // the figure as pages write it
}

// barStep is the height of a bar with its name above it.
const barStep = 36

// Bars draws bars below each other, from the side from which the language is written. Widths are
// parts of the page's, and texts are of the page's size, so that they can be read on a phone.
func Bars(c *Chart, bars []Bar) template.HTML {
	b := open(c, "bars", ` width="100%" height="`+strconv.Itoa(len(bars)*barStep+4)+`"`)
	least, most := 0.0, 0.0
	for _, bar := range bars {
		least, most = min(least, bar.Value), max(most, bar.Value)
	}
	if least == most {
		most = 1
	}
	x := func(v float64) float64 { return (v - least) / (most - least) * 100 }
	for i, bar := range bars {
		top := strconv.Itoa(i*barStep + 16)
		from, to := min(x(0), x(bar.Value)), max(x(0), x(bar.Value))
		name, figure := `<text x="0" y="`, `<text class="end" x="100%" y="`
		if c.Language.IsRTL() {
			from, to, name, figure = 100-to, 100-from, `<text class="end" x="100%" y="`, `<text x="0" y="`
		}
		below := strconv.Itoa(i*barStep + 22)
		b.add(`<g><title>`, html.EscapeString(isolated(bar.Name)+": "+bar.Text), `</title>`,
			name, top, `">`, html.EscapeString(cut(bar.Name, 36)), `</text>`,
			figure, top, `">`, html.EscapeString(bar.Text), `</text>`,
			`<rect class="track" x="0" y="`, below, `" width="100%" height="8"/>`,
			`<rect class="bar" x="`, fine(from), `%" y="`, below, `" width="`, fine(max(0.2, to-from)),
			`%" height="8"/></g>`)
	}
	return b.end()
}

// cut shortens a name to a number of characters.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	runes := []rune(text)
	return string(runes[:most-1]) + "…"
}
