package chart

import (
	"cmp"
	"html"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
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

// Points draws places on the part of a map of countries where they are, darker for greater figures.
// Places that share a square of a grid have one mark, and the grid is as coarse as it must be for
// maxPlaces marks. total is the figure of several places together; where it is nil, there is no
// such figure, and such marks say from where to where the figures go.
func Points(
	c *Chart, world *Layer, places []Place, total func([]*Place) (float64, string),
) (drawing template.HTML, legend []Shade) {
	view := viewOf(places)
	b := startIn(c, view, "map points")
	for i := range world.areas {
		if world.areas[i].box.touches(view) {
			b.area("none", "", world.areas[i].path)
		}
	}
	marks := marksOf(places, (view.right-view.left)/80)
	var values []float64
	var texts []string
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
		values, texts = append(values, m.value), append(texts, m.text)
	}
	class, legend := classify(values, texts)
	radius := (view.right - view.left) / 160
	for i := range marks {
		m, shade, size := &marks[i], "several", radius
		if len(m.places) == 1 || total != nil {
			shade, class = class[0], class[1:]
		}
		if len(m.places) > 1 {
			size *= 1.5
		}
		b.add(`<circle class="`, shade, `" cx="`, fine(m.x), `" cy="`, fine(m.y), `" r="`, fine(size), `"><title>`,
			html.EscapeString(m.title()), `</title></circle>`)
	}
	return b.end(), legend
}

// viewOf is the part of the map of the world that has all places.
func viewOf(places []Place) box {
	view := nowhere
	for i := range places {
		x, y := project(places[i].Lon, places[i].Lat)
		view = view.around(box{x, y, x, y})
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

// marksOf shares places out among squares of a size, or as much greater as maxPlaces needs.
func marksOf(places []Place, size float64) []mark {
	at := make([][2]float64, len(places))
	for i := range places {
		at[i][0], at[i][1] = project(places[i].Lon, places[i].Lat)
	}
	for ; ; size *= 1.5 {
		squares := map[[2]int]int{}
		var marks []mark
		for i := range places {
			x, y := at[i][0], at[i][1]
			square := [2]int{int(math.Floor(x / size)), int(math.Floor(y / size))}
			k, known := squares[square]
			if !known {
				if k = len(marks); k == maxPlaces {
					break
				}
				squares[square] = k
				marks = append(marks, mark{})
			}
			m := &marks[k]
			n := float64(len(m.places))
			m.x, m.y = (m.x*n+x)/(n+1), (m.y*n+y)/(n+1)
			m.places = append(m.places, &places[i])
		}
		if placesOf(marks) == len(places) {
			// Small marks last, so that great ones do not hide them.
			slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(len(b.places), len(a.places)) })
			return marks
		}
	}
}

func placesOf(marks []mark) (n int) {
	for i := range marks {
		n += len(marks[i].places)
	}
	return n
}

// title names the places that a mark shows, with their figures.
func (m *mark) title() string {
	if len(m.places) == 1 {
		return m.places[0].Name + ": " + m.text
	}
	least, most := m.places[0], m.places[0]
	names := make([]string, 0, maxNames)
	for _, p := range m.places {
		if len(names) < maxNames {
			names = append(names, p.Name)
		}
		if p.Value < least.Value {
			least = p
		}
		if p.Value > most.Value {
			most = p
		}
	}
	text := strings.Join(names, ", ")
	if more := len(m.places) - len(names); more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	switch {
	case m.text != "":
		return text + ": " + m.text
	case least.Text == most.Text:
		return text + ": " + least.Text + " each"
	}
	return text + ": " + least.Text + " to " + most.Text
}

// fine writes a place on a map that may be shown many times larger than the whole world.
func fine(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }
