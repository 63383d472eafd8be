package contract

import (
	"slices"
	"strings"

	"hdqs/schema"
)

// Which rows may be added up is declared with each list (package schema). The checks of sums, the
// docs and the interface description are derived from the declarations.
type (
	Use       = schema.Use
	Spread    = schema.Spread
	Dimension = schema.Dimension
	Total     = schema.Total
)

// The uses of numbers.
const (
	Added    = schema.Added
	Averaged = schema.Averaged
	Apart    = schema.Apart
	Label    = schema.Label
)

// The kinds of dimension.
const (
	Parts       = schema.Parts
	Levels      = schema.Levels
	Totals      = schema.Totals
	Overlapping = schema.Overlapping
	Alike       = schema.Alike
	Flow        = schema.Flow
	Stock       = schema.Stock
	Yearly      = schema.Yearly
)

// Figure declares the use of a number of a record.
type Figure struct {
	Field string
	Use   Use
	Noun  string // what the number is, for error texts: people, an index
}

// IsYearly reports whether the figures of an endpoint are of years.
func IsYearly(e *Endpoint) bool {
	isOf := func(h *Headline) bool { return h.Path == e.Contract().Path && h.Series == "year" }
	return slices.ContainsFunc(Headlines, isOf)
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
	PeriodStart = schema.PeriodStart
	PeriodEnd   = schema.PeriodEnd
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
			rules = append(rules, "No total beside its parts, unless grouped by "+field+": "+totalsOf(d)+".")
		case d.Kind == Stock || d.Kind == Yearly:
			rules = append(rules, "One period in each group: latest=edition, start_date and end_date that leave "+
				"one, or grouped by "+PeriodStart+" (by year, quarter or month if each has one period).")
		case d.Kind == Flow && added:
			rules = append(rules, "Periods add up, unless those of one place overlap, such as a year and its months.")
		}
	}
	return rules
}

// totalsOf are the values that contain others, in words.
func totalsOf(d *Dimension) string {
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
		if unitColumns[column] {
			column = "place"
		}
		if name := t.of.names.Name(column); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return inSentence(names)
}

// unitColumns are the columns of keys that are the unit of a row.
var unitColumns = map[string]bool{
	"stored_admin1_code": true, "stored_admin2_code": true,
	"provider_admin1_name": true, "provider_admin2_name": true,
}

// inSentence joins names: a, b and c.
func inSentence(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
