package chart

import (
	"cmp"
	"math"
	"slices"

	"hdqs/api/lang"
)

// Place is the figure of a place on a map.
type Place struct {
	Name     string
	Lat, Lon float64
	Value    float64
	Text     string // the figure as pages write it
}

// maxPlaces is the most marks of a map, and maxNames how many places a mark names.
const (
	maxPlaces = 400
	maxNames  = 3
)

// mark is the places of one square of a map.
type mark struct {
	x, y   float64
	places []*Place
	value  float64
	text   string
}

// Points draws places on the part of a map of countries where they are, with the shades of a map.
// Places that share a square of a grid have one mark, and the grid is as coarse as it must be for
// maxPlaces marks. total is the figure of several places together; where it is nil, there is no
// such figure, and such marks say from where to where the figures go.
func Points(
	c *Chart, world *Layer, places []Place, total func([]*Place) (float64, string),
) (d *Drawing, legend []Shade) {
	at := make([][2]float64, len(places))
	for i := range places {
		at[i][0], at[i][1] = project(places[i].Lon, places[i].Lat)
	}
	view := viewOf(at)
	marks := marksOf(places, at, (view.right-view.left)/80)
	d = newDrawing(c, "map points", view, len(world.areas)/4+len(marks))
	d.Digits = 2
	for i := range world.areas {
		if world.areas[i].box.touches(view) {
			d.add(Element{Kind: Path, Class: "none", area: world.areas[i].path})
		}
	}
	world.drawDisputed(d)
	values := make([]float64, 0, len(marks))
	for i := range marks {
		m := &marks[i]
		switch {
		case len(m.places) == 1:
			m.value, m.text = m.places[0].Value, m.places[0].Text
		case total != nil:
			m.value, m.text = total(m.places)
		default:
			continue
		}
		values = append(values, m.value)
	}
	class, legend := classify(c, values)
	radius := (view.right - view.left) / 160
	for i := range marks {
		m, shade, size := &marks[i], "several", radius
		if len(m.places) == 1 || total != nil {
			shade, class = class[0], class[1:]
		}
		if len(m.places) > 1 {
			size *= 1.5
		}
		d.add(Element{Kind: Circle, Class: shade, Title: m.title(c.Language), At: [4]float64{m.x, m.y, size}})
	}
	return d, legend
}

// viewOf is the part of the map of the world that has all places, which are at these points.
func viewOf(at [][2]float64) box {
	view := nowhere
	for _, p := range at {
		view = view.around(box{p[0], p[1], p[0], p[1]})
	}
	return view.roomy(48)
}

// roomy is a box with room around it, of a width at least, and no strip.
func (b box) roomy(least float64) box {
	width, height := b.right-b.left, b.bottom-b.top
	room := max(width, height)*0.08 + 2
	addX := max(room, (least-width)/2, (height*1.2-width)/2)
	addY := max(room, (least*0.5-height)/2, (width*0.4-height)/2)
	return box{
		left: math.Floor(b.left - addX), top: math.Floor(b.top - addY),
		right: math.Ceil(b.right + addX), bottom: math.Ceil(b.bottom + addY),
	}
}

// marksOf shares places out among squares of a size, or as much greater as maxPlaces needs. at is
// where the places are.
func marksOf(places []Place, at [][2]float64, size float64) []mark {
	squares := make(map[[2]int32]int, maxPlaces)
	for ; ; size *= 1.5 {
		clear(squares)
		marks, ok := squaresOf(places, at, size, squares)
		if !ok {
			continue
		}
		// Small marks last, so that great ones do not hide them.
		slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(len(b.places), len(a.places)) })
		return marks
	}
}

// squaresOf shares places out among squares of a size. ok is false if they need more than
// maxPlaces.
func squaresOf(places []Place, at [][2]float64, size float64, squares map[[2]int32]int) (marks []mark, ok bool) {
	in := make([]int, len(places)) // number of the mark of each place
	for i := range at {
		square := [2]int32{int32(math.Floor(at[i][0] / size)), int32(math.Floor(at[i][1] / size))}
		k, known := squares[square]
		if !known {
			if k = len(squares); k == maxPlaces {
				return nil, false
			}
			squares[square] = k
		}
		in[i] = k
	}
	marks = make([]mark, len(squares))
	for i, k := range in {
		m := &marks[k]
		n := float64(len(m.places))
		m.x, m.y = (m.x*n+at[i][0])/(n+1), (m.y*n+at[i][1])/(n+1)
		m.places = append(m.places, &places[i])
	}
	return marks, true
}

// title names the places that a mark shows, with their figures.
func (m *mark) title(l *lang.Language) string {
	if len(m.places) == 1 {
		return isolated(m.places[0].Name) + ": " + m.text
	}
	least, most := m.places[0], m.places[0]
	names := make([]string, 0, maxNames)
	for _, p := range m.places {
		if len(names) < maxNames {
			names = append(names, isolated(p.Name))
		}
		if p.Value < least.Value {
			least = p
		}
		if p.Value > most.Value {
			most = p
		}
	}
	text := l.List(names)
	if more := len(m.places) - len(names); more > 0 {
		text += " " + l.T("and %s more", lang.Count(more))
	}
	switch {
	case m.text != "":
		return text + ": " + m.text
	case least.Text == most.Text:
		return text + ": " + l.T("%s each", least.Text)
	}
	return text + ": " + l.T("%s to %s", least.Text, most.Text)
}
