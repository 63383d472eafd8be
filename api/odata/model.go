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
	Name     string
	kind     kind
	Nullable bool
	Max      int    // of a text: most characters, 0 without limit
	column   string // of the table; empty for the key and for sets that are computed
	About    string
}

// isKey reports whether it is the key.
func (p *property) isKey() bool { return p.Name == render.RowKeyField }

// edmTypes are the types of properties by kind.
var edmTypes = [...]string{
	text: "Edm.String", integer: "Edm.Int64", float: "Edm.Double", boolean: "Edm.Boolean", day: "Edm.Date",
	instant: "Edm.DateTimeOffset",
}

func (p *property) EDM() string { return edmTypes[p.kind] }

// IsTime reports whether it is a time of a day.
func (p *property) IsTime() bool { return p.kind == instant }

// set is an entity set: the rows of a list, or records that are computed of some.
type set struct {
	Name, title, About string
	Properties         []property // the key is the last
	sorted             []int      // properties by which the rows are sorted, and can be asked to be
	groups             []grouping // what a $filter has besides properties

	list     list.Route         // of the rows of a list
	endpoint *contract.Endpoint // of a list, in HAPI names
	made     []question         // of a set that is computed; nil for lists and groups
}

// grouping is a name that only a $filter has: the groups of countries of a property. A country is
// in several, so no record has one as its value, and clients read a declared property that records
// lack as null. The set of groups has them as records.
type grouping struct {
	name     string
	property int
}

// addGroups adds the groups of properties with codes of countries.
func (s *set) addGroups() {
	for i := range s.Properties {
		name := s.Properties[i].Name
		switch {
		case s.indexOf(contract.GroupParam) >= 0: // a property of its own
		case strings.HasSuffix(name, contract.CountryParam):
			prefix := name[:len(name)-len(contract.CountryParam)]
			s.groups = append(s.groups, grouping{prefix + contract.GroupParam, i})
		case s.endpoint != nil && s.endpoint.Table == "location" && name == "code":
			s.groups = append(s.groups, grouping{contract.GroupParam, i})
		}
	}
}

func (s *set) indexOf(name string) int {
	return slices.IndexFunc(s.Properties, func(p property) bool { return p.Name == name })
}

func (s *set) names() []string {
	names := make([]string, len(s.Properties))
	for i := range s.Properties {
		names[i] = s.Properties[i].Name
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
	return property{Name: f.Name, kind: kindOf(f), Nullable: f.Nullable, Max: f.Max, About: about}
}

// withKey adds the key.
func withKey(properties []property, about string) []property {
	return append(properties, property{Name: render.RowKeyField, kind: text, About: about})
}

const aboutRowKey = "Which row of which state of the table it is: good as long as that state is held. " +
	"Keys sort as rows do."

// listSet is the set of the rows of a list.
func listSet(to list.Route) *set {
	e := to.List().Endpoint
	s := &set{Name: e.SetName(), title: e.Summary, About: e.Note, list: to, endpoint: e}
	for i := range e.Fields {
		p := propertyOf(&e.Fields[i], e.Texts().Meaning(e.Fields[i].Name))
		p.column = e.Fields[i].Column()
		s.Properties = append(s.Properties, p)
	}
	s.Properties = withKey(s.Properties, aboutRowKey)
	s.addGroups()
	// Rows can be sorted by what they are sorted by, as far as it is printed and OData would sort
	// it alike: enums have an order of their own, and nulls come last here and first there.
	for _, column := range e.Order {
		at := slices.IndexFunc(s.Properties, func(p property) bool { return p.column == column })
		if at < 0 || s.Properties[at].Nullable || e.Fields[at].Type == contract.Choice {
			break
		}
		s.sorted = append(s.sorted, at)
	}
	return s
}
