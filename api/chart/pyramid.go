package chart

// Sides is the figures of a group, such as an age, on both sides of a pyramid.
type Sides struct {
	Name        string
	Left, Right Point
}

// The sizes of a pyramid: its width, the height of a group, the room in the middle for names, and
// the room beside a bar for its figure.
const (
	pyramidWidth  = 720
	pyramidStep   = 26
	pyramidMiddle = 96
	pyramidText   = 110
)

// Pyramid draws groups above each other, the first at the bottom, with bars to both sides.
func Pyramid(c *Chart, left, right string, groups []Sides) *Drawing {
	height := float64((len(groups) + 1) * pyramidStep)
	d := newDrawing(c, "pyramid", box{0, 0, pyramidWidth, height}, 5*len(groups)+2)
	most := 1e-9
	for _, g := range groups {
		most = max(most, g.Left.Value, g.Right.Value)
	}
	const inner = (pyramidWidth - pyramidMiddle) / 2 // of the left bars
	text := func(x, y float64, class, text string) {
		d.add(Element{Kind: Text, Class: class, At: [4]float64{x, y}, Text: text})
	}
	bar := func(side int, top float64, of, name string, p Point) {
		if !p.Known {
			return
		}
		long := p.Value / most * (inner - pyramidText)
		x, at, class := inner-long, inner-long-6, "end"
		if side == 1 {
			x, at, class = inner+pyramidMiddle, inner+pyramidMiddle+long+6, "begin"
		}
		d.add(Element{
			Kind: Rect, Class: "mark " + Class(side), Title: of + " " + name + ": " + p.Text,
			At: [4]float64{x, top + 2, max(1, long), pyramidStep - 4},
		})
		text(at, top+18, class, p.Text)
	}
	text(inner, 16, "end", left)
	text(inner+pyramidMiddle, 16, "begin", right)
	for i, g := range groups {
		top := height - float64(i+1)*pyramidStep
		text(pyramidWidth/2, top+18, "middle", g.Name)
		bar(0, top, left, g.Name, g.Left)
		bar(1, top, right, g.Name, g.Right)
	}
	return d
}
