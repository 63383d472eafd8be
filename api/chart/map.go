package chart

// Area is the figure of an area of a map.
type Area struct {
	Code  string // such as AFG
	Name  string
	Value float64
	Text  string // the figure as pages write it
	Class int    // by the provider, from 1 on; 0 without one
	Link  string // to more about it
}

// Shade is a class of areas with similar figures, for a legend. The first has the smallest figures.
type Shade struct{ Class, Text string }

// MapLeast is the fewest areas of which a map says more than bars do.
const MapLeast = 5

// Map draws the areas of a layer, darker for greater figures, and on dark pages brighter. Where
// they are in one part of the world, it shows that part, and all of the world with fewer points.
// provider is the classes that the provider of the figures has, the first for Area.Class 1; nil for
// limits of our own. missing are areas that the layer does not have.
func Map(c *Chart, layer *Layer, areas []Area, provider *Scheme) (d *Drawing, legend []Shade, missing []Area) {
	values := make([]float64, len(areas))
	byCode := make(map[string]int, len(areas))
	for i := range areas {
		values[i], byCode[areas[i].Code] = areas[i].Value, i
	}
	class, legend := classify(c, values)
	kind := "map"
	switch {
	case provider != nil:
		class, legend = provider.classify(areas)
		kind += " " + provider.Name
	case c.Around != 0:
		kind += " around"
	}
	view := layer.viewOf(byCode)
	if view == layer.box && !layer.flat {
		layer = layer.small()
		view = layer.box
	}
	d = newDrawing(c, kind, view, len(layer.areas))
	drawn := make([]bool, len(areas))
	for i := range layer.areas {
		at := &layer.areas[i]
		if !at.box.touches(view) {
			continue
		}
		k, known := byCode[at.code]
		e := Element{Kind: Path, Class: "none", area: at.path}
		switch {
		case known:
			drawn[k] = true
			e.Class, e.Title, e.Link = class[k], isolated(areas[k].Name)+": "+areas[k].Text, areas[k].Link
		case at.name != "":
			e.Title = c.Language.Country(at.code, at.name)
		}
		d.add(e)
	}
	layer.drawDisputed(d)
	for i := range areas {
		if !drawn[i] {
			missing = append(missing, areas[i])
		}
	}
	return d, legend, missing
}

// drawDisputed draws the borders that are dotted over those of the areas.
func (l *Layer) drawDisputed(d *Drawing) {
	if l.disputed != nil {
		d.add(Element{Kind: Path, Class: "disputed", Lines: l.disputed})
	}
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
