package contract

import (
	"slices"
	"strings"
)

// Headline is a figure that a person asks for, such as the people in need in a country. It is one
// aggregate of a list, or an expression over several, all of which the checks of sums allow.
// headlines.go has one literal for each.
type Headline struct {
	Name, Title, Unit string

	Path     string      // of the list
	Place    string      // field of the list with the country
	Keep     [][2]string // parameters that choose the rows
	Newest   Newest
	Value    Expression
	Measures []string // of the aggregate, or those that the expression is made of
	Weight   string   // of Weighted: the field by which a row counts
	Whole    bool     // the value is of a country: it has none where only its units have rows
	Takes    []Param  // further parameters
	Groups   []string // by what else the aggregate may be grouped

	Reading string // how to read it
	NotThis string // what it is not
}

// Newest is which time a headline figure is of.
type Newest string

// The times. NewestEdition is LatestParam's. NewestMonths are the 12 calendar months that end with
// the newest month of the list. YearApart are the newest month of a country and the same month a
// year before.
const (
	NewestEdition Newest = LatestEdition
	NewestMonths  Newest = "12 months"
	YearApart     Newest = "a month and the same month a year before"
)

// Expression is how a headline figure is computed from its measures.
type Expression uint8

// The expressions. Plain is the only measure. Percent is the first measure in per cent of the
// second one. Weighted is that of two means, for which each row counts as often as its weight says.
// MedianChange is the median, over all that is sold, of the change of a measure in per cent.
const (
	Plain Expression = iota
	Percent
	Weighted
	MedianChange
)

// HeadlineDigits is how many decimals the value of an expression has. Other values are exact.
const HeadlineDigits = 3

// FiguresPath is the path of the headline figures. Each has a path of its own below it.
const FiguresPath = v2Root + "figures"

// CountryParam is the parameter with the country of headline figures.
const CountryParam = "location_code"

// HeadlineNamed returns a headline figure by its name, nil if there is none.
func HeadlineNamed(name string) *Headline {
	for i := range Headlines {
		if Headlines[i].Name == name {
			return &Headlines[i]
		}
	}
	return nil
}

// List is the list that the figure is made of, in the names of a set.
func (h *Headline) List(s NameSet) *Endpoint {
	at := slices.IndexFunc(Endpoints, func(e Endpoint) bool { return e.Path == h.Path })
	return &EndpointsIn(s)[at]
}

// Formula is how the value is made of measures, in words.
func (h *Headline) Formula() string {
	switch h.Value {
	case Percent:
		return "100 * " + strings.Join(h.Measures, " / ")
	case Weighted:
		return "100 * " + strings.Join(h.Measures, " / ") + ", weighted by " + h.Weight
	case MedianChange:
		return "median of the changes of " + h.Measures[0] + " in per cent, matched by " +
			strings.Join(h.MatchedBy(), ", ")
	}
	return h.Measures[0]
}

// MatchedBy are the fields that say what is the same thing in two months: those of the key without
// the time, and what numbers must have in common to be compared.
func (h *Headline) MatchedBy() []string {
	var fields []string
	e := h.List(ContractNames)
	fields = append(fields, e.Series()...)
	for i := range e.Dimensions {
		if d := &e.Dimensions[i]; d.Kind == Alike && !slices.Contains(fields, d.Field) {
			fields = append(fields, d.Field)
		}
	}
	return fields
}

// Fields of the records of headline figures.
var (
	headlineFields = record(
		text(CountryParam, 128), null(decimals("value")), text("unit", 0),
		null(times("period_start", "period_end"), integers("admin_level", "units", "units_known")), integers("rows"),
		null(text("provider", 0), text("dataset", 0), text("resource", 0), times("updated"), booleans("complete")),
		text("request", 0), null(text("reason", 0)),
	)
	headlinesOfPlace = record(text("figure", 0), headlineFields)
	headlineList     = record(
		text("name", 0), text("title", 0), text("unit", 0), text("list", 0), text("place", 0), text("filters", 0),
		text("newest", 0), text("measure", 0), text("group_by", 0), text("reading", 0), text("not", 0),
		text("request", 0),
	)
)

// HeadlineList are the fields of the declaration of a figure.
func HeadlineList() []Field { return headlineList }

// upTo is the filter by which a figure is as it was known at a time.
var upTo = dates[1:]

// FigureEndpoints are the endpoints of the headline figures: the first one of all of them, then one
// for each in the order of Headlines.
func FigureEndpoints(s NameSet) []Endpoint { return figureEndpoints[s] }

var figureEndpoints = func() (all [2][]Endpoint) {
	country := like(CountryParam, 128)
	index := Endpoint{
		Path: FiguresPath, Summary: "Headline figures", list: v2Root + "metadata/location", Fields: headlinesOfPlace,
		Place: country, Params: upTo,
	}
	all[ContractNames] = []Endpoint{index}
	for i := range Headlines {
		h := &Headlines[i]
		all[ContractNames] = append(all[ContractNames], Endpoint{
			Path: FiguresPath + "/" + h.Name, Summary: h.Title, list: h.Path, Fields: headlineFields, Place: country,
			Params: filters(h.Takes, upTo), Headline: h,
		})
	}
	for i := range all[ContractNames] {
		e := all[ContractNames][i]
		e.names, e.contract = HAPINames, &all[ContractNames][i]
		all[HAPINames] = append(all[HAPINames], e)
	}
	return all
}()

// List is the path of the list whose table the endpoint's records are made of: its own, but for
// headline figures.
func (e *Endpoint) List() string {
	if e.list != "" {
		return e.list
	}
	return e.Contract().Path
}
