package chart

import (
	"strconv"
	"strings"
)

// Point is a figure of a series. One that is not Known is a gap.
type Point struct {
	Value float64
	Text  string // the figure as pages write it
	Known bool

	Changing bool // it can still change
	Part     bool // it is of a few places only
}

// Series is a line of a chart.
type Series struct {
	Name   string
	Points []Point // one for each label
}

// The sizes of charts over time, alone and beside others, and their margins.
const (
	lineWidth   = 720
	lineHeight  = 280
	panelWidth  = 340
	panelHeight = 180
	marginLeft  = 60
	marginTop   = 28
	marginEnd   = 12
	marginBase  = 34
)

// maxMarks is the most points of a chart that have a mark each. With more than that, only
// those have one that no line leads to.
const maxMarks = 240

// Classes is how many series look different. More than Together lines in one chart cannot
// be distinguished where they cross. With fewer labels than FewLabels there are columns.
const (
	Classes   = 6
	Together  = 3
	FewLabels = 8
)

// Class is the class of the series at a position, for a legend.
func Class(n int) string { return "s" + strconv.Itoa(n%Classes+1) }

// plane is a chart over time: places for labels and values.
type plane struct {
	*Drawing
	labels        []string
	width, height float64
	low, high     float64
	step          float64 // from label to label
}

func (p *plane) x(i int) float64 { return marginLeft + (float64(i)+0.5)*p.step }

func (p *plane) y(v float64) float64 {
	return marginTop + (p.high-v)/(p.high-p.low)*(p.height-marginTop-marginBase)
}

// Lines draws series over time, as lines or as columns. Each has a point for each label.
func Lines(c *Chart, labels []string, series []Series) *Drawing {
	least, most := span(series)
	return newPlane(c, lineWidth, lineHeight, labels, least, most).draw(series)
}

// Panels draws series over time in charts beside each other that have one scale.
func Panels(c *Chart, labels []string, series []Series) *Drawing {
	least, most := span(series)
	all := new(Drawing)
	for n := range series {
		one := *c
		one.ID += "-" + strconv.Itoa(n+1)
		one.Title += ", " + isolated(series[n].Name)
		panel := newPlane(&one, panelWidth, panelHeight, labels, least, most).draw(series[n : n+1])
		panel.Name = series[n].Name
		all.Panels = append(all.Panels, panel)
	}
	return all
}

// newPlane opens a drawing with its axes: values up to most, with their unit, and labels.
func newPlane(c *Chart, width, height int, labels []string, least, most float64) *plane {
	marks := ticks(least, most)
	p := &plane{
		labels: labels, width: float64(width), height: float64(height), low: marks[0], high: marks[len(marks)-1],
		step: float64(width-marginLeft-marginEnd) / float64(max(1, len(labels))),
	}
	size, format := scaleOf(max(p.high, -p.low))
	p.Drawing = newDrawing(c, "lines", box{0, 0, p.width, p.height}, min(2*len(labels), maxMarks)+28)
	p.text(0, 14, "unit", strings.TrimSpace(c.Language.T(format, c.Unit)))
	p.Elements[0].scale = size
	for _, mark := range marks {
		level := [][2]float64{{marginLeft, p.y(mark)}, {p.width - marginEnd, p.y(mark)}}
		p.add(Element{Kind: Path, Class: "grid", Lines: [][][2]float64{level}})
		p.text(marginLeft-6, p.y(mark)+4, "end", plain(c.Language, mark/size))
	}
	room := width / 90 // labels
	for i, every := 0, (len(labels)+room-1)/room; i < len(labels); i += every {
		class := "middle"
		if i/every%2 == 1 && width == lineWidth {
			class = "middle odd" // left out on a narrow screen
		}
		p.text(p.x(i), p.height-10, class, labels[i])
	}
	return p
}

// text adds a text; class decides where it is anchored.
func (p *plane) text(x, y float64, class, text string) {
	p.add(Element{Kind: Text, Class: class, At: [4]float64{x, y}, Text: text})
}

func (p *plane) draw(series []Series) *Drawing {
	if len(p.labels) < FewLabels {
		p.columns(series)
	} else {
		p.lines(series)
	}
	return p.Drawing
}

func (p *plane) lines(series []Series) {
	for n, s := range series {
		line, mark := "line "+Class(n), "mark "+Class(n)
		path, changing := p.paths(&s)
		p.add(Element{Kind: Path, Class: line, Lines: path})
		if changing != nil {
			p.add(Element{Kind: Path, Class: line + " changing", Lines: changing})
		}
		for i, point := range s.Points {
			if point.Known && (len(p.labels)*len(series) <= maxMarks || s.alone(i)) {
				p.add(Element{
					Kind: Circle, Class: mark + point.look(), Title: s.said(p.labels, i),
					At: [4]float64{p.x(i), p.y(point.Value), 3},
				})
			}
		}
	}
}

// paths are the lines of a series, and those that lead to figures that can still change.
func (p *plane) paths(s *Series) (path, changing [][][2]float64) {
	at := func(i int) [2]float64 { return [2]float64{p.x(i), p.y(s.Points[i].Value)} }
	isDown := false // the pen
	for i, point := range s.Points {
		if !point.Known {
			isDown = false
			continue
		}
		if isDown && point.Changing {
			changing = append(changing, [][2]float64{at(i - 1), at(i)})
			isDown = false
		}
		if !isDown {
			path = append(path, nil)
		}
		last := &path[len(path)-1]
		*last, isDown = append(*last, at(i)), true
	}
	return path, changing
}

// look is the class of a mark.
func (p *Point) look() string {
	if p.Changing || p.Part {
		return " changing"
	}
	return ""
}

// columns draws a group of columns at each label, with their figures where there is one series.
func (p *plane) columns(series []Series) {
	wide := min(48, p.step*0.8/float64(max(1, len(series))))
	for n, s := range series {
		mark := "mark " + Class(n)
		for i, point := range s.Points {
			if !point.Known {
				continue
			}
			left := p.x(i) + (float64(n)-float64(len(series))/2)*wide
			top, bottom := min(p.y(point.Value), p.y(0)), max(p.y(point.Value), p.y(0))
			p.add(Element{
				Kind: Rect, Class: mark + point.look(), Title: s.said(p.labels, i),
				At: [4]float64{left, top, wide - 2, max(1, bottom-top)},
			})
			if len(series) == 1 && p.width == lineWidth {
				p.text(p.x(i), top-5, "middle", point.Text)
			}
		}
	}
}

// said is a figure with its series and label.
func (s *Series) said(labels []string, i int) string {
	return strings.TrimSpace(s.Name + " " + labels[i] + ": " + s.Points[i].Text)
}

// alone reports whether the points before and after one are gaps, so that there is no line to it.
func (s *Series) alone(i int) bool {
	return (i == 0 || !s.Points[i-1].Known) && (i == len(s.Points)-1 || !s.Points[i+1].Known)
}

// IsLine reports whether some points are beside each other, so that a line joins them.
func (s *Series) IsLine() bool {
	for i := range s.Points {
		if s.Points[i].Known && !s.alone(i) {
			return true
		}
	}
	return false
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
