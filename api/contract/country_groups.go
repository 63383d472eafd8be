package contract

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"hdqs/aggregate"
	"hdqs/index"
	"hdqs/schema"
)

// A group of countries has a slug: group=western-africa keeps the rows of its countries, as
// location_code__in with their codes would. The classes of countries, such as their region, can be
// grouped by too. Which countries are in a group is data of the snapshot that answers, so a
// question is read first, and then resolved.

// GroupParam is the parameter that keeps the rows of groups of countries.
const GroupParam = "group"

// maxSlug is the most characters of a slug.
const maxSlug = 64

// GroupsPath is the path of the list of groups.
const GroupsPath = v2Root + "groups"

// Kinds of groups of countries. The first ones are those of classes, by Class.
const (
	PlanGroup = "plan"
	OwnGroup  = "own"
)

// ClassKinds are the kinds of groups that classes are.
var ClassKinds = [...]string{
	RegionClass: "region", SubregionClass: "subregion", MiddleClass: "intermediate", IncomeClass: "income",
}

// Class is what of a country decides the group of a row: nothing, or one of its classes.
type Class uint8

// The classes.
const (
	NoClass Class = iota
	RegionClass
	SubregionClass
	MiddleClass
	IncomeClass
)

// ClassNames are the classes in group_by, and the columns of the list of countries that have them.
var ClassNames = [...]string{
	RegionClass: "region", SubregionClass: "subregion", MiddleClass: "intermediate_region", IncomeClass: "income_group",
}

// CountryGroup is a group of countries. Its name is in English; others are texts of package lang.
type CountryGroup struct {
	Kind, Slug, Name string
	Members          []string // codes, in ascending order
}

// CountryGroups are the groups of a snapshot. They never change.
type CountryGroups struct {
	All     []CountryGroup // by kind, then by slug
	Digest  string         // of all that is here
	Lacking bool           // the list of countries says nothing of classes

	classes [len(ClassNames)]*aggregate.Classes
}

// NewCountryGroups prepares groups for questions.
func NewCountryGroups(all []CountryGroup, lacking bool) *CountryGroups {
	g := &CountryGroups{All: all, Lacking: lacking}
	sum := sha256.New()
	for class := range g.classes {
		g.classes[class] = &aggregate.Classes{Of: map[string]string{}}
	}
	for i := range all {
		of := &all[i]
		fmt.Fprintf(sum, "%q\n", of)
		class := slices.Index(ClassKinds[:], of.Kind)
		for _, code := range of.Members {
			if class > 0 {
				g.classes[class].Of[code] = of.Slug
			}
		}
	}
	g.Digest = fmt.Sprintf("%x", sum.Sum(nil)[:16])
	for class, name := range ClassNames {
		g.classes[class].Key = name + g.Digest
	}
	return g
}

// Group finds a group by its slug, nil without one.
func (g *CountryGroups) Group(slug string) *CountryGroup {
	at := slices.IndexFunc(g.All, func(of CountryGroup) bool { return of.Slug == slug })
	if at < 0 {
		return nil
	}
	return &g.All[at]
}

// Slug makes the slug of a name: its letters and digits in lower case, with hyphens between them.
func Slug(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return r >= 0x80 || !isLetterOrDigit(byte(r))
	}), "-")
}

// groupFilters are the filters by groups of the countries that rows of a list name.
func groupFilters(l *schema.List) (params []Param) {
	for _, prefix := range []string{"", "origin_", "asylum_"} {
		if column := prefix + CountryParam; l.Column(column) != nil {
			params = append(params, groupFilter(prefix, column))
		}
	}
	if l.Table == "location" {
		params = append(params, groupFilter("", "code"))
	}
	return params
}

// IsGroupParam reports whether a parameter takes groups of countries.
func IsGroupParam(name string) bool {
	name = strings.TrimSuffix(name, SeveralSuffix)
	return name == GroupParam || name == "origin_"+GroupParam || name == "asylum_"+GroupParam
}

func groupFilter(prefix, column string) Param {
	return Param{
		Name: prefix + GroupParam, Type: String, Max: maxSlug, Op: index.Equal, Columns: []string{column},
		Several: true, Grouped: true, example: "western-africa",
	}
}

// GroupsEndpoints are the one endpoint of the groups of countries, by set of names. Its requests
// are of kind Figures: they have the parameters of a page, and the countries that a group has.
var GroupsEndpoints = inBothNames([]Endpoint{{
	Path: GroupsPath, Summary: "Groups of countries", list: v2Root + "metadata/location",
	Place: []Param{textFilter(index.Like, CountryParam, 128)},
	Fields: slices.Concat(text("kind", 0), text("slug", maxSlug), text("name", 0), text("name_fr", 0),
		text("name_es", 0), text("name_ar", 0), text("members", 0)),
}})

// SortGroups orders groups by kind and slug.
func SortGroups(all []CountryGroup) {
	kinds := append(ClassKinds[RegionClass:len(ClassKinds):len(ClassKinds)], PlanGroup, OwnGroup)
	slices.SortFunc(all, func(a, b CountryGroup) int {
		return cmp.Or(slices.Index(kinds, a.Kind)-slices.Index(kinds, b.Kind), strings.Compare(a.Slug, b.Slug))
	})
}
