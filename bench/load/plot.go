package load

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// Line is one curve of a plot.
type Line struct {
	Name string
	X, Y []float64
}

// Plot is a plot of curves with logarithmic axes, written as SVG.
type Plot struct {
	Title, X, Y string
	Lines       []Line
	XLabel      func(float64) string // label of a tick; nil: the number
	XTicks      []float64            // nil: powers of ten
}

const (
	plotWidth, plotHeight = 720, 420
	left, right           = 70, 190
	above, below          = 40, 50
)

var colours = []string{"#1b6ca8", "#d1495b", "#2e933c", "#8f5aa8", "#c98a00", "#4d4d4d", "#00838f", "#a0522d"}

// axis maps values to pixels.
type axis struct{ low, high, from, to float64 }

func (a axis) at(v float64) float64 {
	if a.high == a.low {
		return (a.from + a.to) / 2
	}
	return a.from + (math.Log10(v)-a.low)/(a.high-a.low)*(a.to-a.from)
}

// span is the axis that covers all values above 0.
func span(lines []Line, of func(Line) []float64, from, to float64) axis {
	a := axis{math.Inf(1), math.Inf(-1), from, to}
	for _, l := range lines {
		for _, v := range of(l) {
			if v > 0 {
				a.low, a.high = min(a.low, math.Log10(v)), max(a.high, math.Log10(v))
			}
		}
	}
	if math.IsInf(a.low, 1) {
		a.low, a.high = 0, 1
	}
	return a
}

// decades are the powers of ten on an axis, and two and five times these if there are few.
func (a axis) decades() []float64 {
	var all []float64
	for e := math.Floor(a.low); e <= math.Ceil(a.high); e++ {
		for _, m := range []float64{1, 2, 5} {
			v := m * math.Pow(10, e)
			if lg := math.Log10(v); lg >= a.low-1e-9 && lg <= a.high+1e-9 && (m == 1 || a.high-a.low < 2) {
				all = append(all, v)
			}
		}
	}
	return all
}

// WriteSVG writes the plot.
func (p *Plot) WriteSVG(w io.Writer) error {
	b := &strings.Builder{}
	x := span(p.Lines, func(l Line) []float64 { return l.X }, left, plotWidth-right)
	y := span(p.Lines, func(l Line) []float64 { return l.Y }, plotHeight-below, above)
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" `+
		`font-size="12">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(b, `<rect width="%d" height="%d" fill="white"/><text x="%d" y="22" font-size="15">%s</text>`+"\n",
		plotWidth, plotHeight, left, html.EscapeString(p.Title))
	ticks := p.XTicks
	if ticks == nil {
		ticks = x.decades()
	}
	for i, v := range ticks {
		label, down := number3(v), 16
		if p.XLabel != nil {
			if label = p.XLabel(v); len(label) > 9 && i%2 == 1 {
				down += 14 // long labels alternate between two rows
			}
		}
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#ddd"/>`+
			`<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			x.at(v), x.at(v), above, plotHeight-below, x.at(v), plotHeight-below+down, label)
	}
	for _, v := range y.decades() {
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/>`+
			`<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			left, plotWidth-right, y.at(v), y.at(v), left-6, y.at(v)+4, number3(v))
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", (left+plotWidth-right)/2, plotHeight-12,
		html.EscapeString(p.X))
	fmt.Fprintf(b, `<text x="16" y="%d" text-anchor="middle" transform="rotate(-90 16 %d)">%s</text>`+"\n",
		plotHeight/2, plotHeight/2, html.EscapeString(p.Y))
	for i, l := range p.Lines {
		colour := colours[i%len(colours)]
		var points []string
		for k := range l.X {
			if l.X[k] > 0 && l.Y[k] > 0 {
				points = append(points, fmt.Sprintf("%.1f,%.1f", x.at(l.X[k]), y.at(l.Y[k])))
			}
		}
		dash := strings.Repeat("5 ", i/len(colours)) // tells lines of the same colour apart
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>`+"\n",
			strings.Join(points, " "), colour, dash)
		for _, at := range points {
			cx, cy, _ := strings.Cut(at, ",")
			fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="3" fill="%s"/>`, cx, cy, colour)
		}
		fmt.Fprintf(b, "\n"+`<text x="%d" y="%d" fill="%s">%s</text>`+"\n", plotWidth-right+12, above+12+18*i, colour,
			html.EscapeString(l.Name))
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// number3 formats a number for an axis.
func number3(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%gM", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%gk", v/1e3)
	}
	return fmt.Sprintf("%.3g", v)
}

// Plots returns the plots of a report that have data, by the last part of their file names.
func (r *Report) Plots() map[string]*Plot {
	all := map[string]*Plot{}
	if len(r.Standings) > 0 {
		all = questionPlots(r.Cells)
	}
	latency := &Plot{
		Title: "Latency by percentile, open loop", X: "part of the requests that took longer", Y: "milliseconds",
		XTicks: []float64{1, 10, 100, 1000, 10000},
		XLabel: func(v float64) string { return fmt.Sprintf("%.4g %%", 100/v) },
	}
	for _, p := range r.Open {
		l := Line{Name: fmt.Sprintf("%s %s %.0f/s", p.Server, p.Encoding, p.Asked)}
		for _, q := range p.Percentiles {
			if q.Part < 1 {
				l.X, l.Y = append(l.X, 1/(1-q.Part)), append(l.Y, float64(q.Latency)/1e6)
			}
		}
		latency.Lines = append(latency.Lines, l)
	}
	throughput := &Plot{Title: "Throughput by connections, closed loop", X: "connections", Y: "requests a second"}
	cost := &Plot{Title: "Cost of an answer by its rows", X: "rows", Y: "CPU µs"}
	memory := &Plot{Title: "Memory by rows", X: "rows", Y: "peak resident MB"}
	for _, p := range r.Closed {
		throughput.add(p.Server+" "+p.Encoding, float64(p.Connections), p.PerSecond)
	}
	for _, p := range r.ByRows {
		cost.add(p.Server+" "+p.Encoding, float64(p.Rows), p.CPUMicros)
	}
	for _, m := range r.Memory {
		if m.Rows == 0 {
			continue // unknown
		}
		memory.add("", float64(m.Rows), float64(m.PeakResident)/1e6)
	}
	for name, p := range map[string]*Plot{
		"latency": latency, "throughput": throughput, "cost": cost,
		"memory": memory,
	} {
		if len(p.Lines) > 0 {
			all[name] = p
		}
	}
	return all
}

// add appends a point to the curve of a name.
func (p *Plot) add(name string, x, y float64) {
	for i := range p.Lines {
		if p.Lines[i].Name == name {
			p.Lines[i].X, p.Lines[i].Y = append(p.Lines[i].X, x), append(p.Lines[i].Y, y)
			return
		}
	}
	p.Lines = append(p.Lines, Line{name, []float64{x}, []float64{y}})
}
