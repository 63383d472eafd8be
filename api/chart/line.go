package chart

import (
	"html"
	"html/template"
	"strconv"
	"strings"
)

// Point is a figure of a series. One that is not Known is a gap.
type Point struct {
	Value float64
	Text  string // the figure as pages write it
	Known bool
}

// Series is a line of a chart.
type Series struct {
	Name   string
	Points []Point // one for each label
}

// The size of charts over time, and their margins.
const (
	lineWidth  = 720
	lineHeight = 280
	marginLeft = 56
	marginTop  = 12
	marginEnd  = 12
	marginBase = 34
)

// maxMarks is the most points of a chart that have a mark of their own. With more than that, only
// those have one that no line leads to.
const maxMarks = 240

// Classes is how many series have a look of their own.
const Classes = 6

// Class is the class of the series at a position, for a legend.
func Class(n int) string { return "s" + strconv.Itoa(n%Classes+1) }

// Lines draws series over time. Each has a point for each label.
func Lines(c *Chart, labels []string, series []Series) template.HTML {
	b := start(c, lineWidth, lineHeight, "lines")
	least, most := span(series)
	marks := ticks(least, most)
	low, high := marks[0], marks[len(marks)-1]
	y := func(v float64) float64 {
		return marginTop + (high-v)/(high-low)*(lineHeight-marginTop-marginBase)
	}
	step := 0.0
	if len(labels) > 1 {
		step = float64(lineWidth-marginLeft-marginEnd-16) / float64(len(labels)-1)
	}
	x := func(i int) float64 { return marginLeft + 8 + float64(i)*step }
	for _, mark := range marks {
		b.add(`<path class="grid" d="M`, number1(marginLeft), ` `, number1(y(mark)), `H`,
			number1(lineWidth-marginEnd), `"/>`)
		b.text(marginLeft-6, y(mark)+4, "end", short(mark))
	}
	for i, every := 0, (len(labels)+7)/8; i < len(labels); i += every {
		class := "middle"
		if i/every%2 == 1 {
			class = "middle odd" // left out on a narrow screen
		}
		b.text(x(i), lineHeight-10, class, labels[i])
	}
	for n, s := range series {
		class := Class(n)
		var path strings.Builder
		pen := "M"
		for i, p := range s.Points {
			if !p.Known {
				pen = "M"
				continue
			}
			path.WriteString(pen + number1(x(i)) + " " + number1(y(p.Value)))
			pen = "L"
		}
		b.add(`<path class="line `, class, `" d="`, path.String(), `"/>`)
		for i, p := range s.Points {
			if p.Known && (len(labels)*len(series) <= maxMarks || s.alone(i)) {
				text := strings.TrimSpace(s.Name + " " + labels[i] + ": " + p.Text)
				b.add(`<circle class="mark `, class, `" cx="`, number1(x(i)), `" cy="`, number1(y(p.Value)),
					`" r="3"><title>`, html.EscapeString(text), `</title></circle>`)
			}
		}
	}
	return b.end()
}

// alone reports whether the points before and after one are gaps, so that there is no line to it.
func (s *Series) alone(i int) bool {
	return (i == 0 || !s.Points[i-1].Known) && (i == len(s.Points)-1 || !s.Points[i+1].Known)
}

// span is the smallest and the greatest value.
func span(series []Series) (least, most float64) {
	for _, s := range series {
		for _, p := range s.Points {
			if p.Known {
				least, most = min(least, p.Value), max(most, p.Value)
			}
		}
	}
	return least, most
}
