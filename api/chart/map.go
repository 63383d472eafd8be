package chart

import (
	"cmp"
	"html"
	"html/template"
	"slices"
	"strconv"
)

// Area is the figure of an area of a map.
type Area struct {
	Code  string // such as AFG
	Name  string
	Value float64
	Text  string // the figure as pages write it
}

// Shade is a class of areas with similar figures, for a legend. The first has the smallest figures.
type Shade struct{ Class, From, To string }

// shades is how many classes a map has.
const shades = 5

// Map draws the areas of a layer, darker for greater figures. Where they are in one part of the
// world, it shows that part. missing are areas that the layer does not have.
func Map(c *Chart, layer *Layer, areas []Area) (drawing template.HTML, legend []Shade, missing []Area) {
	values := make([]float64, len(areas))
	texts := make([]string, len(areas))
	byCode := make(map[string]int, len(areas))
	for i := range areas {
		values[i], texts[i], byCode[areas[i].Code] = areas[i].Value, areas[i].Text, i
	}
	class, legend := classify(values, texts)
	view := layer.viewOf(byCode)
	b := startIn(c, view, "map")
	drawn := make([]bool, len(areas))
	for i := range layer.areas {
		at := &layer.areas[i]
		if !at.box.touches(view) {
			continue
		}
		k, known := byCode[at.code]
		switch {
		case known:
			drawn[k] = true
			b.area(class[k], isolated(areas[k].Name)+": "+areas[k].Text, at.path)
		case at.name != "":
			b.area("none", at.name, at.path)
		default:
			b.area("none", "", at.path)
		}
	}
	for i := range areas {
		if !drawn[i] {
			missing = append(missing, areas[i])
		}
	}
	return b.end(), legend, missing
}

// viewOf is the part of a layer that has some areas: all of it, or less than half of the world.
func (l *Layer) viewOf(areas map[string]int) box {
	around := nowhere
	for i := range l.areas {
		if _, known := areas[l.areas[i].code]; known {
			around = around.around(l.areas[i].box)
		}
	}
	if l.flat || around == nowhere {
		return l.box
	}
	if near := around.roomy(240); near.right-near.left < Width/2 {
		return near
	}
	return l.box
}

// area draws an area of a map.
func (b *svg) area(class, title, path string) {
	b.add(`<path class="`, class, `" d="`, path)
	if title == "" {
		b.add(`"/>`)
		return
	}
	b.add(`"><title>`, html.EscapeString(title), `</title></path>`)
}

// classify shares figures out among classes: about as many in each, equal ones in one.
func classify(values []float64, texts []string) (class []string, legend []Shade) {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	class = make([]string, len(values))
	for k, i := range order {
		n := k * shades / len(values)
		if k > 0 && values[i] == values[order[k-1]] {
			class[i] = class[order[k-1]]
		} else {
			class[i] = "m" + strconv.Itoa(n+1)
		}
		if last := len(legend) - 1; last >= 0 && legend[last].Class == class[i] {
			legend[last].To = texts[i]
		} else {
			legend = append(legend, Shade{class[i], texts[i], texts[i]})
		}
	}
	return class, legend
}
