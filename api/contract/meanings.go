package contract

import (
	_ "embed"
	"strings"
)

//go:embed meanings.txt
var meaningsText string

// Sections of meanings.txt by name. Keys are documented there.
var (
	meanings   = section("fields")
	filterOnly = section("filters")
	addingUp   = section("adding up")
	units      = section("units")
	examples   = section("examples")
	removed    = section("removed filters")
)

// section reads one section of meanings.txt. A line that is no pair of name and text is a bug.
func section(name string) map[string]string {
	_, body, found := strings.Cut(meaningsText, "\n["+name+"]\n")
	if !found {
		panic("meanings.txt has no section " + name)
	}
	body, _, _ = strings.Cut(body, "\n[")
	pairs := map[string]string{}
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, text, found := strings.Cut(line, ": ")
		if _, twice := pairs[key]; !found || twice {
			panic("meanings.txt, section " + name + ": " + line)
		}
		pairs[key] = text
	}
	return pairs
}

// Meaning is what the field means, with its unit.
func (e *Endpoint) Meaning(field string) string {
	field = ContractNames.Name(field)
	text, ok := meanings[e.Table+"."+field]
	if !ok {
		text = meanings[field]
	}
	return e.names.text(text)
}

// Unit is the unit of the field's numbers, empty if they have none of their own.
func (e *Endpoint) Unit(field string) string { return units[ContractNames.Name(field)] }

// AddingUp is how figures of several records may be added up. It is empty for lists of codes.
func (e *Endpoint) AddingUp() string { return e.names.text(addingUp[e.Table]) }

// About is what the parameter is about and how it matches. The parameter's own text (Describe) has
// no meaning of the field, which depends on the endpoint.
func (e *Endpoint) About(p *Param) string {
	about := e.names.text(p.Describe())
	if p.Name == LatestParam {
		return sentences(about, "A series is the records with the same "+e.SeriesText()+".")
	}
	if len(p.Columns) == 0 || p.Type == Day || p.IsLevel() {
		return about
	}
	name := strings.TrimSuffix(strings.TrimSuffix(p.single(), "_min"), "_max")
	text := e.names.text(filterOnly[ContractNames.Name(p.single())])
	if meaning := e.Meaning(name); meaning != "" && e.hasField(name) {
		text = meaning
	}
	return sentences(text, about, p.aboutTwin())
}

// aboutTwin is the parameter's other name in words, empty if it has none.
func (p *Param) aboutTwin() string {
	twin := p.Twin()
	if twin == "" {
		return ""
	}
	return "The name " + twin + " is accepted too."
}

func (e *Endpoint) hasField(name string) bool {
	for i := range e.Fields {
		if e.Fields[i].Name == name {
			return true
		}
	}
	return false
}
