package odata

import (
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
)

// namespace is that of the types of entities.
const namespace = "hdqs"

// property is a property of entities.
type property struct {
	name     string
	kind     kind
	nullable bool
	max      int    // of a text: most characters, 0 without limit
	column   string // of the table; empty for the key and for sets that are computed
	about    string
}

// isKey reports whether it is the key.
func (p *property) isKey() bool { return p.name == render.RowKeyField }

// edmTypes are the types of properties by kind.
var edmTypes = [...]string{
	text: "Edm.String", integer: "Edm.Int64", float: "Edm.Double", boolean: "Edm.Boolean", day: "Edm.Date",
	instant: "Edm.DateTimeOffset",
}

func (p *property) edm() string { return edmTypes[p.kind] }

// set is an entity set: the rows of a list, or records that are computed of some.
type set struct {
	name, title, about string
	properties         []property // the key is the last
	sorted             []int      // properties by which the rows are sorted, and can be asked to be

	list     list.Route         // of the rows of a list
	endpoint *contract.Endpoint // of a list, in HAPI names
	make     maker              // of a set that is computed; nil for lists
}

func (s *set) indexOf(name string) int {
	return slices.IndexFunc(s.properties, func(p property) bool { return p.name == name })
}

func (s *set) names() []string {
	names := make([]string, len(s.properties))
	for i := range s.properties {
		names[i] = s.properties[i].name
	}
	return names
}

// kindOf is the kind of a field.
func kindOf(f *contract.Field) kind {
	switch f.Type {
	case contract.Integer:
		return integer
	case contract.Number, contract.Exact:
		return float
	case contract.Boolean:
		return boolean
	case contract.DateTime:
		if contract.IsDay(f.Column()) || strings.HasPrefix(f.Name, "period_") {
			return day
		}
		return instant
	}
	return text
}

// propertyOf is a field as a property.
func propertyOf(f *contract.Field, about string) property {
	return property{name: f.Name, kind: kindOf(f), nullable: f.Nullable, max: f.Max, about: about}
}

// withKey adds the key.
func withKey(properties []property, about string) []property {
	return append(properties, property{name: render.RowKeyField, kind: text, about: about})
}

const aboutRowKey = "Which row of which state of the table it is: good as long as that state is held. " +
	"Keys sort as rows do."

// listSet is the set of the rows of a list.
func listSet(to list.Route) *set {
	e := to.List.Endpoint
	s := &set{name: e.SetName(), title: e.Summary, about: e.Note, list: to, endpoint: e}
	for i := range e.Fields {
		p := propertyOf(&e.Fields[i], e.Meaning(e.Fields[i].Name))
		p.column = e.Fields[i].Column()
		s.properties = append(s.properties, p)
	}
	s.properties = withKey(s.properties, aboutRowKey)
	// Rows can be sorted by what they are sorted by, as far as it is printed and OData would sort
	// it alike: enums have an order of their own, and nulls come last here and first there.
	for _, column := range e.Order {
		at := slices.IndexFunc(s.properties, func(p property) bool { return p.column == column })
		if at < 0 || s.properties[at].nullable || e.Fields[at].Type == contract.Choice {
			break
		}
		s.sorted = append(s.sorted, at)
	}
	return s
}
