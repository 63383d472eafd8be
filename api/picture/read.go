package picture

import (
	"encoding/xml"
	"slices"
	"strings"
)

// node is an element of a drawing of package chart.
type node struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Nodes    []node     `xml:",any"`
	Contents string     `xml:",chardata"`
}

// read reads drawings. They are well formed, since templates have made pages of them before.
func read(drawing string) (root node, err error) {
	err = xml.Unmarshal([]byte("<p>"+clean(drawing)+"</p>"), &root)
	return root, err
}

// clean replaces what XML cannot contain.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0xfffe || r == 0xffff {
			return 0xfffd
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}

func (n *node) attr(name string) string {
	for _, a := range n.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// all are the elements of a name below a node, in order.
func (n *node) all(name string) (found []*node) {
	for i := range n.Nodes {
		if n.Nodes[i].XMLName.Local == name {
			found = append(found, &n.Nodes[i])
		}
		found = append(found, n.Nodes[i].all(name)...)
	}
	return found
}

// said is the text of a node, and of what is in it.
func (n *node) said() string {
	text := n.Contents
	for i := range n.Nodes {
		text += n.Nodes[i].said()
	}
	return text
}

// area is a part of a picture.
type area struct{ x, y, width, height float64 }

// size is the size of a drawing in its own units. That of bars is in parts of the page's width.
func (n *node) size() (view [4]float64) {
	for i, text := range strings.Fields(n.attr("viewBox")) {
		view[i&3] = number(text)
	}
	return view
}

// draw draws a chart as large as fits into an area. shift is the part of the room beside it that is
// on its left.
func (n *node) draw(to sink, in area, shift float64) {
	view := n.size()
	scale := min(in.width/max(1, view[2]), in.height/max(1, view[3]))
	left := in.x + (in.width-scale*view[2])*shift
	words := strings.Fields(n.attr("class"))
	if slices.Contains(words, "map") {
		to.clip(&area{left, in.y, scale * view[2], scale * view[3]})
		defer to.clip(nil)
	}
	n.drawAt(to, matrix{scale, left - view[0]*scale, in.y - view[1]*scale}, view[2], words)
}

// drawAt draws what is in a chart. Lengths in per cent are parts of a width.
func (n *node) drawAt(to sink, m matrix, width float64, words []string) {
	length := func(n *node, name string) float64 {
		if part, is := strings.CutSuffix(n.attr(name), "%"); is {
			return number(part) / 100 * width
		}
		return number(n.attr(name))
	}
	for i := range n.Nodes {
		x := &n.Nodes[i]
		own := slices.Concat(words, []string{x.XMLName.Local}, strings.Fields(x.attr("class")))
		s := styleOf(own).enlarged(m.scale)
		title := ""
		if all := x.all("title"); len(all) > 0 {
			title = all[0].Contents
		}
		left, top := length(x, "x"), length(x, "y")
		switch x.XMLName.Local {
		case "g":
			x.drawAt(to, m, width, words)
		case "path":
			to.shape(pathOf(x.attr("d"), m), s, title)
		case "rect":
			r := rectangle(left, top, length(x, "width"), length(x, "height"))
			for k, p := range r.points {
				r.points[k] = m.at(p.x, p.y)
			}
			to.shape([]ring{r}, s, title)
		case "circle":
			to.shape([]ring{circle(m.at(length(x, "cx"), length(x, "cy")), length(x, "r")*m.scale)}, s, title)
		case "text":
			to.text(m.at(left, top), s, x.Contents)
		}
	}
}
