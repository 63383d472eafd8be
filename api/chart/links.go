package chart

import (
	"html"
	"html/template"
)

// Target is an area of a map that leads somewhere.
type Target struct{ Code, Name, Address, Class string }

// The map of links is shown small: one of its units is linksGrid of a layer, and its areas have at
// most linksBytes.
const (
	linksGrid  = 2
	linksBytes = 20_000
)

// Links draws the areas of a layer, each target a link. Whoever does not see the map has a list
// of the same links, so the map is hidden from screen readers, and no link is reached with the tab
// key.
func Links(layer *Layer, targets []Target) template.HTML {
	layer = layer.coarser(linksGrid, linksBytes)
	view := [4]float64{0, 0, layer.box.right, layer.box.bottom}
	b := new(svg).add(`<svg class="chart map" aria-hidden="true"`, viewBox(view), `>`)
	byCode := map[string]*Target{}
	for i := range targets {
		byCode[targets[i].Code] = &targets[i]
	}
	for i := range layer.areas {
		a := &layer.areas[i]
		t := byCode[a.code]
		if t == nil {
			b.element(&Element{Kind: Path, Class: "none", area: a.path})
			continue
		}
		b.add(`<a href="`, html.EscapeString(t.Address), `" tabindex="-1">`)
		b.element(&Element{Kind: Path, Class: t.Class, Title: isolated(t.Name), area: a.path})
		b.add(`</a>`)
	}
	if layer.disputed != nil {
		b.element(&Element{Kind: Path, Class: "disputed", Lines: layer.disputed})
	}
	return b.end()
}

// The map of the whole world has as many points as a page can have: one of its units is smallGrid
// of a layer, and its areas have at most smallBytes.
const (
	smallGrid  = 2.5
	smallBytes = 24_000
)

// small is the layer for a map of all of it.
func (l *Layer) small() *Layer {
	l.once.Do(func() { l.coarse = l.coarser(smallGrid, smallBytes) })
	return l.coarse
}

// coarser is the layer in units of which one is several of its own, with areas of at most so many
// bytes.
func (l *Layer) coarser(grid float64, most int) *Layer {
	small := &Layer{flat: true, box: box{l.box.left / grid, l.box.top / grid, l.box.right / grid, l.box.bottom / grid}}
	var shapes []Shape
	for i := range l.areas {
		a := &l.areas[i]
		shapes = append(shapes, Shape{a.code, a.name, ringsOf(a.path)})
	}
	for _, line := range l.disputed {
		points := make([][2]float64, len(line))
		for i, at := range line {
			points[i] = [2]float64{at[0] / grid, at[1] / grid}
		}
		small.disputed = append(small.disputed, points)
	}
	small.draw(shapes, func(x, y float64) (float64, float64) { return x / grid, y / grid }, most)
	return small
}
