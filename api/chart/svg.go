package chart

import (
	"math"
	"strconv"
	"strings"

	"hdqs/api/lang"
)

// Chart says what is drawn.
type Chart struct {
	ID          string // unique on the page
	Title       string
	Description string  // the figures in words, for who does not see the chart
	Unit        string  // of the figures, on the axis
	Around      float64 // what figures are above or below of, such as 100 per cent of normal; 0 for nothing
	Full        float64 // the figure of the longest bar, such as 100 per cent; 0 for the greatest
	Language    *lang.Language
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
