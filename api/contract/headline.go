package contract

import (
	_ "embed"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"hdqs/index"
)

// Headline is a figure that a person asks for, such as the people in need in a country. It is one
// aggregate of a list, or an expression over several, all of which the checks of sums allow.
type Headline struct {
	Name, Title, Unit string

	Path     string   `json:"list"`
	Place    string   // field of the list with the country
	Filters  string   // query that chooses the rows
	Newest   Newest   // which time it is of
	Measures []string // of the aggregate; of two, the value is the first in per cent of the second
	Weight   string   // of two means: the field by which a row counts
	Whole    bool     // the value is of a country; newer rows of its units are named
	Aging    bool     // as known at a time, it has no value where its rows end over a year before
	Other    string   // field of the list with the country on the other side
	Takes    string   // a further parameter
	Groups   []string // by what else the aggregate may be grouped
	Series   string   // month or year, if figures of several of them can be compared

	LeastFirst bool    `json:"least_first"` // the least figure is what readers look for
	Around     float64 // what the value is above or below of, such as 100 per cent of normal

	Classes string // field of the list with the class that its provider gives the value
	Each    string // the title where there is a figure for each country; empty for one with "by country"

	LeastOthers  int    `json:"least_others"`   // countries on the other side of a complete figure
	OutOf        string `json:"out_of"`         // measure of the whole that the value is a part of
	OutOfFilters string `json:"out_of_filters"` // its rows, one for each of the value; empty for the same

	Reading string // how to read it
	NotThis string `json:"not"` // what it is not
}

// Newest is which time a headline figure is of.
type Newest string

// The times. NewestEdition is LatestParam's. NewestMonths are the 12 calendar months that end with
// the newest month of the list. YearApart are the newest month of a country and the same month a
// year before: the value is the median, over all that is sold, of the change in per cent.
const (
	NewestEdition Newest = LatestEdition
	NewestMonths  Newest = "12 months"
	YearApart     Newest = "a month and the same month a year before"
)

//go:embed headlines.json
var headlinesText []byte

// Headlines are all headline figures, which headlines.json declares.
var Headlines = func() (all []*Headline) {
	if err := json.Unmarshal(headlinesText, &all); err != nil {
		panic("headlines.json: " + err.Error())
	}
	return all
}()

// HeadlineNames are the names of all headline figures.
func HeadlineNames() (names []string) {
	for _, h := range Headlines {
		names = append(names, h.Name)
	}
	return names
}

// HeadlineDigits is how many decimals a value has that is not one measure. Others are exact.
const HeadlineDigits = 3

// FiguresPath is the path of the headline figures. Each has a path of its own below it.
const FiguresPath = v2Root + "figures"

// List is the list that the figure is made of, in the names of a set.
func (h *Headline) List(s NameSet) *Endpoint {
	at := slices.IndexFunc(Endpoints, func(e Endpoint) bool { return e.Path == h.Path })
	return &EndpointsIn(s)[at]
}

// Question asks for groups of the rows that the figure is of, in the names of a set.
func (h *Headline) Question(s NameSet) *Question {
	return declared(h.List(s), h.Filters)
}

// WholeQuestion asks for groups of the rows of the whole that the figure is a part of.
func (h *Headline) WholeQuestion(s NameSet) *Question {
	if h.OutOfFilters == "" {
		return h.Question(s)
	}
	return declared(h.List(s), h.OutOfFilters)
}

// declared asks for groups of the rows that pass declared filters.
func declared(e *Endpoint, filters string) *Question {
	r, err := Read(PlanOf(e, Aggregate), filters)
	if err != nil {
		panic("the declared filters " + filters + ": " + err.Error())
	}
	return &r.Question
}

// IsPlain reports whether the value is one measure of one aggregate.
func (h *Headline) IsPlain() bool { return len(h.Measures) == 1 && h.Newest != YearApart }

// CanNarrow reports whether the value can be made of some of its rows: it is one aggregate.
func (h *Headline) CanNarrow() bool { return h.Newest != YearApart && h.Weight == "" }

// Formula is how the value is made of measures, in words.
func (h *Headline) Formula() string {
	switch {
	case h.Newest == YearApart:
		return "median of the changes of " + h.Measures[0] + " in per cent, matched by " +
			strings.Join(h.MatchedBy(), ", ")
	case h.Weight != "":
		return "100 * " + strings.Join(h.Measures, " / ") + ", weighted by " + h.Weight
	case len(h.Measures) > 1:
		return "100 * " + strings.Join(h.Measures, " / ")
	}
	return h.Measures[0]
}

// MatchedBy are the fields that say what is the same thing in two months: those of the key without
// the time, and what numbers must have in common to be compared.
func (h *Headline) MatchedBy() (fields []string) {
	e := h.List(ContractNames)
	fields = e.Series()
	for i := range e.Dimensions {
		if d := &e.Dimensions[i]; d.Kind == Alike && !slices.Contains(fields, d.Field) {
			fields = append(fields, d.Field)
		}
	}
	return fields
}

// takes is the further parameter of the figure, which is a code.
func (h *Headline) takes() []Param {
	if h.Takes == "" {
		return nil
	}
	return []Param{textFilter(index.Like, h.Takes, 32)}
}

// Fields of the records of headline figures.
var (
	headlineFields = slices.Concat(
		text(CountryParam, 128), null(decimals("value")), text("unit", 0),
		null(times("period_start", "period_end"), integers("admin_level", "units", "units_known")), integers("rows"),
		null(text("provider", 0), text("dataset", 0), text("resource", 0), times("updated"), booleans("complete")),
		null(integers("months", "of_months"), decimals("out_of"), integers("other_places")), text("request", 0),
		null(text("reason", 0)),
	)
	headlinesOfPlace = slices.Concat(text("figure", 0), headlineFields)

	// HeadlineList are the fields of the declaration of a figure.
	HeadlineList = slices.Concat(
		text("name", 0), text("title", 0), text("unit", 0), text("list", 0), text("place", 0), text("filters", 0),
		text("newest", 0), text("measure", 0), text("group_by", 0), text("reading", 0), text("not", 0),
		text("request", 0),
	)
)

// historyFields are the fields of a value that a publication began with.
var historyFields = slices.Concat(
	text(CountryParam, 128), times("published"), text("snapshot", 0), null(decimals("value")), text("unit", 0),
	null(times("period_start", "period_end"), integers("admin_level")), booleans("definition_changed"),
)

// upTo is the filter by which a figure is as it was known at a time.
var upTo = dates[1:]

// FigureEndpoints are the endpoints of the headline figures by set of names: the first one of all
// of them, then one for each in the order of Headlines.
var FigureEndpoints = func() [2][]Endpoint {
	country, groups := []Param{textFilter(index.Like, CountryParam, 128)}, []Param{groupFilter("", CountryParam)}
	all := []Endpoint{{
		Path: FiguresPath, Summary: "Headline figures", list: v2Root + "metadata/location", Fields: headlinesOfPlace,
		Place: country, Params: slices.Concat(upTo, groups),
	}}
	for _, h := range Headlines {
		all = append(all, Endpoint{
			Path: FiguresPath + "/" + h.Name, Summary: h.Title, list: h.Path, Fields: headlineFields, Place: country,
			Params: slices.Concat(h.takes(), upTo, groups), Headline: h,
		})
	}
	return inBothNames(all)
}()

// HistoryPath is the last part of the path of what a headline figure was before.
const HistoryPath = "/history"

// FigureHistories are the endpoints of what the headline figures were before by set of names, in
// the order of Headlines.
var FigureHistories = func() [2][]Endpoint {
	all := slices.Clone(FigureEndpoints[ContractNames][1:])
	for i := range all {
		e := &all[i]
		e.Path, e.Fields, e.Params, e.History = e.Path+HistoryPath, historyFields, nil, true
	}
	return inBothNames(all)
}()

// OfUnits is the endpoint of a headline figure of units of a level, in place of countries: the same
// rows of that level, by unit. It is nil where the figure has no units. It has no path of its own.
func (h *Headline) OfUnits(level int, s NameSet) *Endpoint {
	const coarsest = "admin_level=" + Coarsest
	digit := strconv.Itoa(level)
	of := *h
	of.Place, of.Filters = "admin"+digit+"_code", strings.Replace(h.Filters, coarsest, "admin_level="+digit, 1)
	of.OutOfFilters = strings.Replace(h.OutOfFilters, coarsest, "admin_level="+digit, 1)
	if h.Whole || of.Filters == h.Filters || !h.List(ContractNames).HasField(of.Place) {
		return nil
	}
	_, e := HeadlineOf(h.Name, ContractNames)
	units := *e
	units.Headline = &of
	return &inBothNames([]Endpoint{units})[s][0]
}

// List is the path of the list whose table the endpoint's records are made of: its own, but for
// headline figures.
func (e *Endpoint) List() string {
	if e.list != "" {
		return e.list
	}
	return e.Contract().Path
}

// View is what the page of a list shows to a reader who has not chosen what to draw.
type View struct {
	Path     string   `json:"list"`
	Figures  []string // names of headline figures
	Choose   []string // fields of which one value each must be chosen before anything is drawn
	Offer    []string // fields of which one value may be chosen then
	Drawings []Drawing
}

// Drawing is a drawing of a view: a headline figure by country, or groups of an aggregate.
type Drawing struct {
	Figure string // name of the headline figure; the other fields are empty

	Title    string   // with %s for the name of what must be chosen
	Unit     string   // empty for that of the measure
	Filters  string   // query that chooses the rows
	Measures []string // of the aggregate; each of several is a line
	Names    []string // of the lines of several measures
	By       string   // what the groups are drawn by
	Group    []string // by what the aggregate is grouped besides Lines; empty for By only
	Lines    []string // fields of which each combination of values is a line
	Within   Within   // how groups become one where several have the same place in the drawing
	Months   int      // only so many newest months; 0 for all
	One      bool     // only where one country is chosen
	Around   float64  // what figures are above or below of
	As       As       // how it is drawn; empty for what By says
}

// As is a way of drawing groups with two values each.
type As string

// The ways: shares of phases in bars, ages by gender to both sides, and two years beside each
// other.
const (
	AsStack   As = "stack"
	AsPyramid As = "pyramid"
	AsYears   As = "years"
)

// Question asks for groups of the rows that the drawing chooses of a list.
func (d *Drawing) Question(e *Endpoint) *Question { return declared(e, d.Filters) }

// Within is how several groups become one.
type Within string

// The ways: the newest group, or the median of all.
const (
	WithinLast   Within = "last"
	WithinMedian Within = "median"
)

//go:embed views.json
var viewsText []byte

// Views are the views of lists, which views.json declares.
var Views = func() (all []View) {
	if err := json.Unmarshal(viewsText, &all); err != nil {
		panic("views.json: " + err.Error())
	}
	return all
}()

// View is what the page of a list shows first, nil if it shows records only.
func (e *Endpoint) View() *View {
	at := slices.IndexFunc(Views, func(v View) bool { return v.Path == e.Contract().Path })
	if at < 0 {
		return nil
	}
	return &Views[at]
}

// HeadlineOf is a headline figure and its endpoint in a set of names; nil without one of the name.
func HeadlineOf(name string, s NameSet) (*Headline, *Endpoint) {
	at := slices.IndexFunc(Headlines, func(h *Headline) bool { return h.Name == name })
	if at < 0 {
		return nil, nil
	}
	return Headlines[at], &FigureEndpoints[s][at+1]
}

// Median is the middle of numbers, which it sorts, or the mean of the two in the middle.
func Median(all []*big.Rat) *big.Rat {
	slices.SortFunc(all, (*big.Rat).Cmp)
	low, high := all[(len(all)-1)/2], all[len(all)/2]
	mean := new(big.Rat).Add(low, high)
	return mean.Quo(mean, big.NewRat(2, 1))
}
