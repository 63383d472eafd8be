package contract

import (
	"slices"
	"strings"
)

// SumRules says in sentences which figures NAME/aggregate adds up, and over what. They follow from
// the declarations, as do the errors for other requests. There are none for lists without figures.
func (e *Endpoint) SumRules() []string {
	var rules []string
	rule := func(before string, names []string, after string) {
		if len(names) > 0 {
			rules = append(rules, before+inSentence(names)+after)
		}
	}
	rule("sum and mean: ", e.figuresOf(Added), ".")
	rule("mean only: ", e.figuresOf(Averaged), ".")
	rule("Neither sum nor mean: ", e.figuresOf(Apart), ".")
	if e.Dimensions == nil {
		return rules
	}
	rule("Rows of one ", e.dimensionsOf(Levels), " only, unless grouped by it.")
	rule("One value, kept by a filter where there is one, or grouped by: ", e.dimensionsOf(Overlapping), ".")
	rule("For averages one value, or grouped by: ", e.dimensionsOf(Alike), ".")
	for i := range e.Dimensions {
		d := &e.Dimensions[i]
		added := e.figuresOf(Added) != nil
		switch {
		case d.Kind == Totals:
			field := e.names.Name(d.Field)
			rules = append(rules, "No total beside its parts, unless grouped by "+field+": "+d.totals()+".")
		case d.Kind == Stock:
			rules = append(rules, "One period: latest=true, start_date and end_date that leave one, or grouped by "+
				PeriodStart+" (by year, quarter or month if each has one period).")
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
func (e *Endpoint) SeriesText() string {
	var names []string
	for _, column := range e.Series() {
		if slices.Contains(unit2, column) || slices.Contains(unit1, column) {
			column = "place"
		}
		if name := e.names.Name(column); !slices.Contains(names, name) {
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
