package judge

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// page is the numbers on a page of records. Numbers are without the spaces between thousands.
type page struct {
	total  string
	facets map[string]*pageFacet // by field
	figure *pageFigure           // nil without one
}

type labelled struct{ label, number string }

type pageFacet struct {
	values []labelled
	more   int
}

type pageFigure struct {
	refused, empty bool
	measure, by    string   // chosen in the form
	measures, bys  []string // that the form offers
	head           []string // of the columns of numbers
	rows           []pageRow
	unlisted       int // figures that the table leaves out
	source         string
	titles         []string // of bars, areas and points
}

type pageRow struct {
	label   string
	numbers []string
}

// node is an element of a page, or a text.
type node struct {
	name     string // empty for a text
	text     string
	attrs    map[string]string
	children []*node
}

var (
	controls = regexp.MustCompile(`[\x00-\x08\x0b\x0c\x0e-\x1f\x{fffe}\x{ffff}]`)
	scripts  = regexp.MustCompile(`(?s)<script\b.*?</script>`)
	doctype  = regexp.MustCompile(`(?i)^<!doctype[^>]*>`)
)

// readTree reads a page. Our pages close all elements that XML would.
func readTree(body string) (*node, error) {
	body = doctype.ReplaceAllString(scripts.ReplaceAllString(controls.ReplaceAllString(body, " "), ""), "")
	d := xml.NewDecoder(strings.NewReader(body))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	root := &node{name: "page"}
	stack := []*node{root}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return root, nil
		}
		if err != nil {
			return nil, err
		}
		top := stack[len(stack)-1]
		switch token := token.(type) {
		case xml.StartElement:
			n := &node{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				n.attrs[a.Name.Local] = a.Value
			}
			top.children = append(top.children, n)
			stack = append(stack, n)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.children = append(top.children, &node{text: string(token)})
		}
	}
}

// all are the elements below that match, in their order.
func (n *node) all(match func(*node) bool) (found []*node) {
	for _, c := range n.children {
		if c.name != "" && match(c) {
			found = append(found, c)
		}
		found = append(found, c.all(match)...)
	}
	return found
}

// first is the first of all, nil without one.
func (n *node) first(match func(*node) bool) *node {
	if found := n.all(match); len(found) > 0 {
		return found[0]
	}
	return nil
}

func named(name string) func(*node) bool { return func(n *node) bool { return n.name == name } }

// classed matches elements of a name and a class.
func classed(name, class string) func(*node) bool {
	return func(n *node) bool {
		for _, c := range strings.Fields(n.attrs["class"]) {
			if n.name == name && c == class {
				return true
			}
		}
		return false
	}
}

// content is the text of an element, with single blanks.
func (n *node) content() string {
	var b strings.Builder
	var add func(*node)
	add = func(n *node) {
		b.WriteString(n.text)
		for _, c := range n.children {
			add(c)
		}
	}
	add(n)
	return spaced(b.String())
}

// spaced is a text with single blanks, as a reader sees it. Narrow spaces stay.
func spaced(text string) string {
	text = controls.ReplaceAllString(text, " ")
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n", r) }), " ")
}

// bareNumber is the exact value of a number on a page, or the text if it is none.
func bareNumber(text string) string {
	text = strings.NewReplacer("\u202f", "", "\u2212", "-").Replace(text)
	return plainNumber(text, text)
}

// readPage reads the numbers of a page.
func readPage(body string) (*page, error) {
	root, err := readTree(body)
	if err != nil {
		return nil, err
	}
	p := &page{facets: map[string]*pageFacet{}}
	total := root.first(classed("p", "total"))
	if total == nil {
		return nil, errors.New("the page has no total")
	}
	p.total = bareNumber(total.first(named("strong")).content())
	headings := root.all(func(n *node) bool { return n.name == "h3" && strings.HasPrefix(n.attrs["id"], "count-") })
	lists := root.all(classed("ul", "facet"))
	if len(headings) != len(lists) {
		return nil, fmt.Errorf("%d headings of %d lists of counts", len(headings), len(lists))
	}
	for i, list := range lists {
		f := new(pageFacet)
		for _, item := range list.all(named("li")) {
			count := item.first(classed("span", "count"))
			if count == nil {
				_, err = fmt.Sscanf(item.content(), "and %d more", &f.more)
				if err != nil {
					return nil, err
				}
				continue
			}
			f.values = append(f.values, labelled{item.first(named("bdi")).content(), bareNumber(count.content())})
		}
		p.facets[strings.TrimPrefix(headings[i].attrs["id"], "count-")] = f
	}
	if section := root.first(classed("section", "figure")); section != nil {
		p.figure, err = readFigure(section)
	}
	return p, err
}

var unlisted = regexp.MustCompile(`(\S+) smaller ones are not in this table`)

func readFigure(section *node) (*pageFigure, error) {
	f := new(pageFigure)
	f.measure, f.measures = chosenOption(section, "measure")
	f.by, f.bys = chosenOption(section, "by")
	text := section.content()
	f.refused = strings.Contains(text, "No figure, since it would be wrong.")
	f.empty = strings.Contains(text, "No record passes these filters.")
	if f.refused || f.empty {
		return f, nil
	}
	table, source := section.first(classed("table", "data")), section.first(classed("pre", "call"))
	if table == nil || source == nil {
		return nil, errors.New("the figure has no table, or no request")
	}
	f.source = source.content()
	for _, th := range table.all(named("th"))[1:] {
		f.head = append(f.head, th.content())
	}
	for _, tr := range table.first(named("tbody")).all(named("tr")) {
		var row pageRow
		for i, td := range tr.all(named("td")) {
			if i == 0 {
				row.label = td.content()
			} else {
				row.numbers = append(row.numbers, bareNumber(td.content()))
			}
		}
		f.rows = append(f.rows, row)
	}
	if found := unlisted.FindStringSubmatch(text); found != nil {
		n, err := strconv.Atoi(bareNumber(found[1]))
		if err != nil {
			return nil, err
		}
		f.unlisted = n
	}
	for _, t := range section.all(named("title")) {
		if t.attrs["id"] == "" {
			f.titles = append(f.titles, isolates.Replace(t.content()))
		}
	}
	return f, nil
}

// isolates are removed: they keep a name that is written from right to left from moving its figure.
var isolates = strings.NewReplacer("\u2068", "", "\u2069", "")

// chosenOption is the chosen value of a select, and all of its values.
func chosenOption(section *node, id string) (chosen string, all []string) {
	list := section.first(func(n *node) bool { return n.name == "select" && n.attrs["id"] == id })
	if list == nil {
		return "", nil
	}
	for _, o := range list.all(named("option")) {
		all = append(all, o.attrs["value"])
		if _, is := o.attrs["selected"]; is {
			chosen = o.attrs["value"]
		}
	}
	return chosen, all
}
