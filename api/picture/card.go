package picture

import (
	"bytes"
	"math"
	"strings"

	"hdqs/api/chart"
	"hdqs/api/lang"
)

// Width and Height are the size of a picture: that of previews of links.
const (
	Width  = 1200
	Height = 630
)

// Card is what a picture shows.
type Card struct {
	Language      *lang.Language
	MadeUp        string // that the figures are made up, empty if they are not
	Title, Second string
	Chart         *chart.Drawing
	Tiles         []Tile // in place of a chart
	More          int    // bars that are not in the chart
	Legend        []Key
	Key           string // what the legend is of
	Notes         string // what is left out, and whose boundaries there are
	Facts         string // unit, period, places, provider, licence
	Service       string
	Address       string // of the view
}

// Tile is a single figure.
type Tile struct{ Title, Value, Unit, About string }

// Key is a line of the legend: of an area, or of a line.
type Key struct {
	Class, Text string
	Line        bool
}

// The margins of a picture, and the sizes of its letters.
const (
	margin   = 48
	inner    = Width - 2*margin
	bandHigh = 44
	barWide  = 850 // of bars in their own units
)

var (
	titled  = &style{fill: ink, size: 34, bold: true}
	second  = &style{fill: soft, size: 21}
	noted   = &style{fill: soft, size: 15}
	facts   = &style{fill: ink, size: 17}
	banner  = &style{fill: ink, size: 20, bold: true}
	keyed   = &style{fill: ink, size: 17}
	bold    = &style{fill: ink, size: 17, bold: true}
	service = bold
	source  = &style{fill: soft, size: 16, anchor: "end"}
)

// SVG is the card as a drawing.
func (c *Card) SVG() []byte {
	d := newDrawing(strings.TrimSpace(c.Title+" "+c.Second), newLetters())
	c.draw(d, d.letters)
	d.add("</svg>")
	return []byte(d.String())
}

// PNG is the card as pixels.
func (c *Card) PNG() ([]byte, error) {
	to := newCanvas(newLetters())
	c.draw(to, to.letters)
	var b bytes.Buffer
	err := to.write(&b)
	return b.Bytes(), err
}

// across is a distance from the side where lines begin, as one from the left.
func (c *Card) across(x float64) float64 {
	if c.Language.IsRTL() {
		return Width - x
	}
	return x
}

// directed is a style with the direction of the card's language.
func (c *Card) directed(s *style) *style {
	own := *s
	own.rtl = c.Language.IsRTL()
	return &own
}

// paragraph writes lines of text from a height on, and returns the height below them.
func (c *Card) paragraph(to sink, l *letters, top float64, s *style, text string, lines int) float64 {
	s = c.directed(s)
	for _, part := range l.wrapped(text, s, inner, lines) {
		to.text(point{c.across(margin), top + s.size}, s, part)
		top += math.Round(s.size * 1.3)
	}
	return top
}

// heightOf is how high a paragraph is.
func heightOf(l *letters, s *style, text string, lines int) float64 {
	if text == "" {
		return 0
	}
	return float64(len(l.wrapped(text, s, inner, lines))) * math.Round(s.size*1.3)
}

// draw draws from above: what it is; from below: where it is from; and between them the chart.
func (c *Card) draw(to sink, l *letters) {
	page := matrix{scale: 1}
	to.shape([]ring{page.rectangle(0, 0, Width, Height)}, &style{fill: back}, "")
	top := 28.0
	if c.MadeUp != "" {
		to.shape([]ring{page.rectangle(0, 0, Width, bandHigh)}, &style{fill: warn}, "")
		to.shape([]ring{page.rectangle(0, bandHigh, Width, 2)}, &style{fill: warnEdge}, "")
		to.text(point{margin, 29}, banner, c.MadeUp)
		top += bandHigh - 12
	}
	top = c.paragraph(to, l, top, titled, c.Title, 2)
	if c.Second != "" {
		top = c.paragraph(to, l, top+2, second, c.Second, 2)
	}
	low := Height - 50.0
	to.shape([]ring{page.rectangle(margin, low, inner, 1)}, &style{fill: line}, "")
	to.text(point{margin, low + 28}, service, c.Service)
	room := inner - l.width(c.Service, service) - 24
	if cut := l.wrapped(c.Address, source, room, 1); len(cut) > 0 {
		to.text(point{Width - margin, low + 28}, source, cut[0])
	}
	low -= heightOf(l, facts, c.Facts, 2) + 6
	c.paragraph(to, l, low, facts, c.Facts, 2)
	notes := c.Notes
	drawing := c.Chart
	if drawing.IsBars() {
		with := func(more int) string {
			return strings.TrimSpace(c.Language.T("And %s more.", lang.Count(more)) + " " + c.Notes)
		}
		below := heightOf(l, noted, with(len(c.Chart.Elements)+c.More), 2) + legendRow*c.legendRows(l)
		drawing = drawing.First(max(1, int((low-12-top-below)/inner*barWide/chart.BarStep)))
		if more := len(c.Chart.Elements) - len(drawing.Elements) + c.More; more > 0 {
			notes = with(more)
		}
	}
	low -= heightOf(l, noted, notes, 2)
	c.paragraph(to, l, low, noted, notes, 2)
	if len(c.Legend) > 0 {
		low -= legendRow * c.legendRows(l)
		c.legend(to, l, low)
	}
	in := area{margin, top + 8, inner, low - top - 18}
	switch {
	case len(c.Tiles) > 0:
		c.tiles(to, l, in)
	case drawing != nil:
		in.draw(to, drawing)
	}
}

// legendRow is the height of a row of keys.
const legendRow = 30

// legendRows is in how many rows the keys are.
func (c *Card) legendRows(l *letters) float64 {
	rows := 0
	c.eachKey(l, func(_ *Key, _ float64, row int) { rows = row + 1 })
	return float64(rows)
}

// eachKey calls put with each key and its place, in at most two rows.
func (c *Card) eachKey(l *letters, put func(k *Key, x float64, row int)) {
	x, row := float64(margin), 0
	if c.Key != "" {
		x += l.width(c.Key, bold) + 24
	}
	for i := range c.Legend {
		width := l.width(c.Legend[i].Text, keyed)
		if x+width+38 > Width-margin {
			if x, row = margin, row+1; row == 2 {
				return
			}
		}
		put(&c.Legend[i], x, row)
		x += width + 66
	}
}

// legend writes keys beside each other, below what they are of.
func (c *Card) legend(to sink, l *letters, above float64) {
	if c.Key != "" {
		to.text(point{c.across(margin), above + 19}, c.directed(bold), c.Key)
	}
	c.eachKey(l, func(k *Key, x float64, row int) {
		top := above + legendRow*float64(row)
		s := styleOf("path map " + k.Class)
		shape := matrix{scale: 1}.rectangle(min(c.across(x), c.across(x+30)), top+4, 30, 18)
		if k.Line {
			s = styleOf("line " + k.Class).enlarged(1.5)
			shape = ring{points: []point{{c.across(x), top + 13}, {c.across(x + 30), top + 13}}}
		}
		to.shape([]ring{shape}, s, "")
		to.text(point{c.across(x + 38), top + 19}, c.directed(keyed), k.Text)
	})
}

// tiles draws single figures, at most six.
func (c *Card) tiles(to sink, l *letters, in area) {
	all := c.Tiles[:min(len(c.Tiles), 6)]
	columns := min(3, len(all))
	rows := (len(all) + columns - 1) / columns
	wide, high := in.width/float64(columns), min(190, in.height/float64(rows))
	for i, t := range all {
		x, y := in.x+float64(i%columns)*wide, in.y+float64(i/columns)*high
		put := func(down float64, s *style, text string) {
			lines := 1
			if s == noted {
				lines = 2
			}
			for n, part := range l.wrapped(text, s, wide-24, lines) {
				to.text(point{c.across(x), y + down + 20*float64(n)}, c.directed(s), part)
			}
		}
		put(28, &style{fill: ink, size: 20}, t.Title)
		value := &style{fill: ink, size: 42, bold: true}
		for value.size > 12 && l.width(t.Value, value) > wide-24 {
			value.size--
		}
		to.text(point{c.across(x), y + 76}, c.directed(value), t.Value) // a number is never cut
		put(106, &style{fill: ink, size: 18}, t.Unit)
		put(132, noted, t.About)
	}
}
