package chart

import (
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

// mapHeight is the height of a map without Antarctica.
const mapHeight = 425

// Countries draws a map of countries, darker for greater figures. missing are areas that the map
// does not have.
func Countries(c *Chart, areas []Area) (drawing template.HTML, legend []Shade, missing []Area) {
	class, legend := classify(areas)
	b := start(c, Width, mapHeight, "map")
	byCode := make(map[string]int, len(areas))
	for i := range areas {
		byCode[areas[i].Code] = i
	}
	drawn := make([]bool, len(areas))
	for _, w := range world {
		i, known := byCode[w.code]
		if !known {
			b.add(`<path class="none" d="`, w.path, `"/>`)
			continue
		}
		drawn[i] = true
		b.add(`<path class="`, class[i], `" d="`, w.path, `"><title>`,
			html.EscapeString(areas[i].Name+": "+areas[i].Text), `</title></path>`)
	}
	for i := range areas {
		if !drawn[i] {
			missing = append(missing, areas[i])
		}
	}
	return b.end(), legend, missing
}

// classify shares areas out among classes: about as many areas in each, equal figures in one.
func classify(areas []Area) (class []string, legend []Shade) {
	order := make([]int, len(areas))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case areas[a].Value < areas[b].Value:
			return -1
		case areas[a].Value > areas[b].Value:
			return 1
		}
		return 0
	})
	class = make([]string, len(areas))
	for k, i := range order {
		n := k * shades / len(areas)
		if k > 0 && areas[i].Value == areas[order[k-1]].Value {
			class[i] = class[order[k-1]]
		} else {
			class[i] = "m" + strconv.Itoa(n+1)
		}
		if last := len(legend) - 1; last >= 0 && legend[last].Class == class[i] {
			legend[last].To = areas[i].Text
		} else {
			legend = append(legend, Shade{class[i], areas[i].Text, areas[i].Text})
		}
	}
	return class, legend
}
