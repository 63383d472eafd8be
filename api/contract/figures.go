package contract

import (
	"slices"
	"strings"
)

// Which rows may be added up is declared with each endpoint, in three parts: the key of a row, the
// use of each number of a record, and what a sum over each other field would mean. The checks of
// sums, the docs and the interface description are derived from these.

// Use is what may be done with the numbers of a field.
type Use uint8

// The uses. Added are amounts, such as people or money. An average of an Averaged field means
// something, a sum does not. Apart are rates, indices and ranks: neither does. A Label is a number
// that names something, such as a level or a round.
const (
	Added Use = 1 + iota
	Averaged
	Apart
	Label
)

// Figure declares the use of a number of a record.
type Figure struct {
	Field string
	Use   Use
	Noun  string // what the number is, for error texts: people, an index
}

// Spread is how the rows with different values of a dimension relate to one another.
type Spread uint8

// The kinds of dimension. In Parts nothing is counted twice. Levels are those of places, of which
// each contains the next one. Totals are parts of which some values contain others. Overlapping
// values count the same people. The figures of Alike can only be compared within one value, which
// matters to averages. Flow is the period of figures that add up over time, Stock that of figures
// of which each counts everything anew, Yearly that of figures of a year that are not added up over
// years.
const (
	Parts Spread = 1 + iota
	Levels
	Totals
	Overlapping
	Alike
	Flow
	Stock
	Yearly
)

// Dimension declares what adding over a field of a record means.
type Dimension struct {
	Field  string
	Kind   Spread
	Also   []string // further fields that tell the same: names, ages as numbers
	Totals []Total  // Totals: which values contain others
	Ranges bool     // Totals: values are also ranges of ages, which can contain or overlap others
	Keep   string   // the value of rows that are not broken down, such as all

	Everybody []string // values of rows that count everybody
}

// Total is a value that contains others.
type Total struct {
	Value string
	Parts []string // nil: all others
}

// Of lists the values among some that the total contains.
func (t *Total) Of(values []string) []string {
	var parts []string
	for _, v := range values {
		if v != t.Value && (t.Parts == nil || slices.Contains(t.Parts, v)) {
			parts = append(parts, v)
		}
	}
	return parts
}

// Series are the columns that rows have in common which differ only in when they are from: the key
// without its dates, and without rounds, of which each replaces the one before. It is nil for lists
// whose key has no date.
func (e *Endpoint) Series() []string {
	var series []string
	dated := false
	for _, column := range e.Key {
		if column == PeriodStart || slices.Contains(e.Rounds, column) {
			dated = true
		} else {
			series = append(series, column)
		}
	}
	if !dated {
		return nil
	}
	return series
}

// AddsOverTime reports whether there are amounts that add up over time.
func (e *Endpoint) AddsOverTime() bool {
	added := slices.ContainsFunc(e.Figures, func(f Figure) bool { return f.Use == Added })
	return added && slices.ContainsFunc(e.Dimensions, func(d Dimension) bool { return d.Kind == Flow })
}

// The columns of the period of a row.
const (
	PeriodStart = "reference_period_start"
	PeriodEnd   = "reference_period_end"
)

// Figure is the declaration of a number, nil for other fields.
func (e *Endpoint) Figure(field string) *Figure {
	for i := range e.Figures {
		if e.Figures[i].Field == field {
			return &e.Figures[i]
		}
	}
	return nil
}

// Dimension is the declaration of a field, nil for others.
func (e *Endpoint) Dimension(field string) *Dimension {
	for i := range e.Dimensions {
		if d := &e.Dimensions[i]; d.Field == field || slices.Contains(d.Also, field) {
			return d
		}
	}
	return nil
}

// The functions that declarations are made of.

func keyOf(parts ...[]string) []string { return slices.Concat(parts...) }

func figures(parts ...[]Figure) []Figure { return slices.Concat(parts...) }

// Amounts may be added up. Averaged numbers may be averaged, but not added up, and others neither.
// Labels are numbers that name something. noun says of what they are the number or sum.
func amounts(noun string, fields ...string) []Figure  { return used(Added, noun, fields) }
func averaged(noun string, fields ...string) []Figure { return used(Averaged, noun, fields) }
func neither(noun string, fields ...string) []Figure  { return used(Apart, noun, fields) }
func labels(fields ...string) []Figure                { return used(Label, "a number that names something", fields) }

func used(use Use, noun string, fields []string) []Figure {
	all := make([]Figure, len(fields))
	for i, field := range fields {
		all[i] = Figure{Field: field, Use: use, Noun: noun}
	}
	return all
}

func dimensions(parts ...[]Dimension) []Dimension { return slices.Concat(parts...) }

func parts(field string, also ...string) []Dimension { return dimension(Parts, field, also) }
func overlapping(field string, also ...string) []Dimension {
	return dimension(Overlapping, field, also)
}
func alike(field string, also ...string) []Dimension { return dimension(Alike, field, also) }

func dimension(kind Spread, field string, also []string) []Dimension {
	return []Dimension{{Field: field, Kind: kind, Also: also}}
}

// totals declares the values of a field that contain others.
func totals(field string, all ...Total) []Dimension {
	return []Dimension{{Field: field, Kind: Totals, Totals: all}}
}

// keep sets the value that rows of a dimension have if they are not broken down.
func keep(value string, d []Dimension) []Dimension {
	d[0].Keep = value
	return d
}

// everybody sets the values of rows that count everybody.
func everybody(values []string, d []Dimension) []Dimension {
	d[0].Everybody = values
	return d
}

// total is a value that contains the given others, all without any.
func total(value string, parts ...string) Total { return Total{Value: value, Parts: parts} }

// Declarations that many endpoints share.
var (
	// unit2 and unit1 are the place of a row, as it is stored: the unit of the lowest level, which
	// has a code also where records print null, and what the provider calls it.
	unit2 = []string{"stored_admin2_code", "provider_admin1_name", "provider_admin2_name"}
	unit1 = []string{"stored_admin1_code", "provider_admin1_name"}

	journeyKey = []string{
		"origin_location_code", "asylum_location_code", "population_group", "gender", "age_range", PeriodStart,
	}
	journeyOrder = []string{
		"origin_location_ref", "asylum_location_ref", "population_group", "gender", "age_range", PeriodStart,
	}

	level     = labels("admin_level")
	ageLabels = labels("min_age", "max_age")

	levels    = []Dimension{{Field: "admin_level", Kind: Levels}}
	inCountry = parts("location_code", "location_name")
	inUnit1   = dimensions(inCountry, parts("admin1_code", "admin1_name"), levels)
	inUnit2   = dimensions(inUnit1, parts("admin2_code", "admin2_name"))
	fromFile  = parts("resource_catalog_id")

	genders   = everybody([]string{"all"}, keep("all", totals("gender", total("all"))))
	ageRanges = []Dimension{{
		Field: "age_range", Kind: Totals, Also: []string{"min_age", "max_age"}, Totals: []Total{total("all")},
		Ranges: true, Keep: "all", Everybody: []string{"all"},
	}}
	anyGroup   = keep("all", totals("population_group", total("all")))
	betweenTwo = dimensions(
		parts("origin_location_code", "origin_location_name"), parts("asylum_location_code", "asylum_location_name"),
	)

	flow   = []Dimension{{Field: PeriodStart, Kind: Flow, Also: []string{PeriodEnd}}}
	stock  = []Dimension{{Field: PeriodStart, Kind: Stock, Also: []string{PeriodEnd}}}
	yearly = []Dimension{{Field: PeriodStart, Kind: Yearly, Also: []string{PeriodEnd}}}
)

// SumRules says in sentences which figures NAME/aggregate adds up, and over what. They follow from
// the declarations, as do the errors for other requests. There are none for lists without figures.
func (t Texts) SumRules() []string {
	var rules []string
	rule := func(before string, names []string, after string) {
		if len(names) > 0 {
			rules = append(rules, before+inSentence(names)+after)
		}
	}
	rule("sum and mean: ", t.of.figuresOf(Added), ".")
	rule("mean only: ", t.of.figuresOf(Averaged), ".")
	rule("Neither sum nor mean: ", t.of.figuresOf(Apart), ".")
	if t.of.Dimensions == nil {
		return rules
	}
	if t.of.dimensionsOf(Levels) != nil {
		rules = append(rules, "No place beside one that contains it, unless grouped by admin_level: "+
			"admin_level=coarsest, or one level.")
	}
	rule("One value in each group: ", t.of.dimensionsOf(Overlapping), ".")
	rule("For averages one value, or grouped by: ", t.of.dimensionsOf(Alike), ".")
	for i := range t.of.Dimensions {
		d := &t.of.Dimensions[i]
		added := t.of.figuresOf(Added) != nil
		switch {
		case d.Kind == Totals:
			field := t.of.names.Name(d.Field)
			rules = append(rules, "No total beside its parts, unless grouped by "+field+": "+d.totals()+".")
		case d.Kind == Stock || d.Kind == Yearly:
			rules = append(rules, "One period in each group: latest=edition, start_date and end_date that leave "+
				"one, or grouped by "+PeriodStart+" (by year, quarter or month if each has one period).")
		case d.Kind == Flow && added:
			rules = append(rules, "Periods add up, unless those of one place overlap, such as a year and its months.")
		}
	}
	return rules
}

// totals are the values that contain others, in words.
func (d *Dimension) totals() string {
	var all []string
	for _, t := range d.Totals {
		if t.Parts == nil {
			all = append(all, t.Value+" contains all others")
		} else {
			all = append(all, t.Value+" contains "+inSentence(t.Parts))
		}
	}
	if d.Ranges {
		all = append(all, "ranges can overlap")
	}
	return strings.Join(all, "; ")
}

func (e *Endpoint) figuresOf(use Use) []string {
	var names []string
	for i := range e.Figures {
		if e.Figures[i].Use == use {
			names = append(names, e.names.Name(e.Figures[i].Field))
		}
	}
	return names
}

func (e *Endpoint) dimensionsOf(kind Spread) []string {
	var names []string
	for i := range e.Dimensions {
		if e.Dimensions[i].Kind == kind {
			names = append(names, e.names.Name(e.Dimensions[i].Field))
		}
	}
	return names
}

// SeriesText names what rows of one series have in common, empty where there are no series. The
// unit of a row has no field of its own: it is the place, with the provider's names.
func (t Texts) SeriesText() string {
	var names []string
	for _, column := range t.of.Series() {
		if slices.Contains(unit2, column) || slices.Contains(unit1, column) {
			column = "place"
		}
		if name := t.of.names.Name(column); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return inSentence(names)
}

// inSentence joins names: a, b and c.
func inSentence(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
