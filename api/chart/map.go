package chart

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/lang"
)

// Area is the figure of an area of a map.
type Area struct {
	Code  string // such as AFG
	Name  string
	Value float64
	Text  string // the figure as pages write it
}

// Shade is a class of areas with similar figures, for a legend. The first has the smallest figures.
type Shade struct{ Class, Text string }

// shades is how many classes a map has. More of them cannot have three times the contrast of each
// to the next one, which people need who see little or on a bad screen.
const shades = 3

// Map draws the areas of a layer, darker for greater figures, and on dark pages brighter. Where
// they are in one part of the world, it shows that part. missing are areas that the layer does not
// have.
func Map(c *Chart, layer *Layer, areas []Area) (d *Drawing, legend []Shade, missing []Area) {
	values := make([]float64, len(areas))
	texts := make([]string, len(areas))
	byCode := make(map[string]int, len(areas))
	for i := range areas {
		values[i], texts[i], byCode[areas[i].Code] = areas[i].Value, areas[i].Text, i
	}
	class, legend := classify(c.Language, values, texts)
	view := layer.viewOf(byCode)
	d = newDrawing(c, "map", view, len(layer.areas))
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
			e.Class, e.Title = class[k], isolated(areas[k].Name)+": "+areas[k].Text
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

// classify shares figures out among classes: about as many in each, equal ones in one. Classes of
// the legend end where the next begins, at numbers of few digits.
func classify(l *lang.Language, values []float64, texts []string) (class []string, legend []Shade) {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	class = make([]string, len(values))
	// Where the smallest figure is that of more areas than a class has, such as 0, the others are
	// shared out among the other classes.
	same := 0
	for same < len(order) && values[order[same]] == values[order[0]] {
		same++
	}
	var firsts []int // of each class, in the order
	for k, i := range order {
		if k > 0 && values[i] == values[order[k-1]] {
			class[i] = class[order[k-1]]
			continue
		}
		class[i] = "m" + strconv.Itoa(k*shades/len(values)+1)
		if k > 0 && same*shades > len(values) {
			class[i] = "m" + strconv.Itoa((k-same)*(shades-1)/(len(values)-same)+2)
		}
		if k == 0 || class[i] != class[order[k-1]] {
			firsts = append(firsts, k)
		}
	}
	for k := len(order) - 1; len(firsts) > 1 && k >= firsts[len(firsts)-1]; k-- {
		class[order[k]] = "m" + strconv.Itoa(shades) // the greatest figures stand out the most
	}
	from := ""
	for n, k := range firsts {
		shade := Shade{class[order[k]], l.T("all")}
		to := ""
		if n+1 < len(firsts) {
			next := firsts[n+1]
			to = plain(l, between(values[order[next-1]], values[order[next]]))
		}
		switch {
		case values[order[0]] == values[order[len(order)-1]]:
			shade.Text = texts[order[0]]
		case from == "":
			shade.Text = l.T("less than %s", to)
		case to == "":
			shade.Text = l.T("%s or more", from)
		default:
			shade.Text = l.T("%[1]s to less than %[2]s", from, to)
		}
		legend, from = append(legend, shade), to
	}
	return class, legend
}

// between is a number of as few digits as possible that is greater than one number and not greater
// than another.
func between(low, high float64) float64 {
	for digits := 1; digits < 17; digits++ {
		text := strconv.FormatFloat(high, 'e', digits-1, 64)
		x, _ := strconv.ParseFloat(text, 64)
		if x > high { // rounded up: one less at the last digit
			_, power, _ := strings.Cut(text, "e")
			exponent, _ := strconv.Atoi(power)
			x -= math.Pow(10, float64(exponent-digits+1))
		}
		if x > low && x <= high {
			return x
		}
	}
	return high
}
