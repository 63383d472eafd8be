package chart

import "unicode/utf8"

// Bar is a bar with its name and figure.
type Bar struct {
	Name  string
	Value float64
	Text  string // the figure as pages write it
}

// BarStep is the height of a bar with its name above it.
const BarStep = 36

// Bars draws bars below each other, from the side from which the language is written.
func Bars(c *Chart, bars []Bar) *Drawing {
	d := newDrawing(c, "bars", box{bottom: float64(len(bars)*BarStep + 4)}, len(bars))
	d.Digits = 2
	least, most := 0.0, 0.0
	for _, bar := range bars {
		least, most = min(least, bar.Value), max(most, bar.Value)
	}
	if least == most {
		most = 1
	}
	x := func(v float64) float64 { return (v - least) / (most - least) * 100 }
	for i, bar := range bars {
		top, from, to := float64(i*BarStep), min(x(0), x(bar.Value)), max(x(0), x(bar.Value))
		if c.Language.IsRTL() {
			from, to = 100-to, 100-from
		}
		d.add(Element{
			Kind: Row, Title: isolated(bar.Name) + ": " + bar.Text, Text: cut(bar.Name, 36), Figure: bar.Text,
			At: [4]float64{from, top + 16, max(0.2, to-from), top + 22}, RTL: c.Language.IsRTL(),
		})
	}
	return d
}

// cut shortens a name to a number of characters.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	runes := []rune(text)
	return string(runes[:most-1]) + "…"
}
