package chart

import "unicode/utf8"

// Bar is a bar with its name and figure.
type Bar struct {
	Name  string
	After []string // is written after the name, such as a year
	Value float64
	Text  string // the figure as pages write it
	Apart bool   // it is no part of what the others are parts of

	Parts []float64 // what the value is made of, each with the class of its position; nil for one part
	Texts []string  // of the parts
}

// longestName is how many characters of a name a phone has room for.
const longestName = 36

// leastName is how many characters of one of several names are shown at least.
const leastName = 4

// BarStep is the height of a bar with its name above it, and MiddleOver how far the line of what
// bars are around goes over each on both sides.
const (
	BarStep    = 36
	MiddleOver = 4
)

// Bars draws bars below each other, from the side from which the language is written.
func Bars(c *Chart, bars []Bar) *Drawing {
	d := newDrawing(c, "bars", box{bottom: float64(len(bars)*BarStep + 4)}, len(bars))
	d.Digits = 2
	origin := c.Around
	least, most := origin, max(origin, c.Full)
	for _, bar := range bars {
		least, most = min(least, bar.Value), max(most, bar.Value)
	}
	if origin != 0 { // in the middle, with room on both sides
		far := 1.05 * max(most-origin, origin-least)
		least, most = origin-far, origin+far
	}
	if least == most {
		most = least + 1
	}
	x := func(v float64) float64 { return (v - least) / (most - least) * 100 }
	for i, bar := range bars {
		top, from, to := float64(i*BarStep), min(x(origin), x(bar.Value)), max(x(origin), x(bar.Value))
		middle := 0.0
		if origin != 0 {
			middle = min(max(0.01, x(origin)), 99.8)
		}
		if c.Language.IsRTL() {
			from, to = 100-to, 100-from
			middle = min(1, middle) * (100 - middle)
		}
		names := append([]string{bar.Name}, bar.After...)
		name, short := c.Language.List(names), c.Language.List(fit(names, longestName))
		d.add(Element{
			Class: bar.class(origin), Middle: middle, Parts: bar.parts(c, x),
			Kind: Row, Title: isolated(name) + ": " + bar.Text, Text: short, Figure: bar.Text,
			At: [4]float64{from, top + 16, max(0.2, to-from), top + 22}, RTL: c.Language.IsRTL(),
		})
	}
	return d
}

// IsBars reports whether a drawing is of bars.
func (d *Drawing) IsBars() bool { return d != nil && len(d.Elements) > 0 && d.Elements[0].Kind == Row }

// First is a drawing of the first bars, which are as long as they are beside the others.
func (d *Drawing) First(n int) *Drawing {
	few := *d
	few.Elements = d.Elements[:min(n, len(d.Elements))]
	few.View[3] = float64(len(few.Elements)*BarStep + 4)
	return &few
}

// class is how a bar differs from others.
func (bar *Bar) class(origin float64) string {
	switch {
	case bar.Apart:
		return "apart"
	case origin != 0 && bar.Value < origin:
		return "below"
	case origin != 0:
		return "above"
	}
	return ""
}

// parts are the parts of a bar beside each other, nil for one of one part.
func (bar *Bar) parts(c *Chart, x func(float64) float64) (all []Part) {
	sum := 0.0
	for k, v := range bar.Parts {
		from, to := x(sum), x(sum+v)
		sum += v
		if c.Language.IsRTL() {
			from, to = 100-to, 100-from
		}
		if v > 0 {
			all = append(all, Part{shade(k + 1), bar.Texts[k], from, to - from})
		}
	}
	return all
}

// fit shortens the longest of several names until all have room for a number of characters
// together.
func fit(names []string, most int) []string {
	for widest := most; ; widest-- {
		all, room := make([]string, len(names)), most-(len(names)-1)*len(", ")
		for i, name := range names {
			all[i] = cut(name, widest)
			room -= utf8.RuneCountInString(all[i])
		}
		if room >= 0 || widest == leastName {
			return all
		}
	}
}

// cut shortens a name to a number of characters.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	runes := []rune(text)
	return string(runes[:most-1]) + "…"
}
