package chart

import (
	"html"
	"html/template"
	"unicode/utf8"
)

// Bar is a bar with its name and figure.
type Bar struct {
	Name  string
	Value float64
	Text  string // the figure as pages write it
}

const (
	barStep   = 26
	barNames  = 190 // room for names
	barValues = 110 // room for figures
)

// Bars draws bars beside each other, from the left.
func Bars(c *Chart, bars []Bar) template.HTML {
	b := start(c, lineWidth, len(bars)*barStep+4, "bars")
	least, most := 0.0, 0.0
	for _, bar := range bars {
		least, most = min(least, bar.Value), max(most, bar.Value)
	}
	if least == most {
		most = 1
	}
	x := func(v float64) float64 {
		return barNames + (v-least)/(most-least)*(lineWidth-barNames-barValues)
	}
	for i, bar := range bars {
		top := float64(i*barStep + 2)
		b.add(`<g><title>`, html.EscapeString(bar.Name+": "+bar.Text), `</title>`)
		b.text(barNames-8, top+17, "end", cut(bar.Name, 28))
		from, to := min(x(0), x(bar.Value)), max(x(0), x(bar.Value))
		b.add(`<rect class="bar" x="`, number1(from), `" y="`, number1(top), `" width="`, number1(max(1, to-from)),
			`" height="22"/>`)
		b.text(to+6, top+17, "start", bar.Text)
		b.add(`</g>`)
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
