package browse

import (
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/say"
)

// countMeasure is the measure that every list has.
const countMeasure = "records"

// measure is a figure that can be drawn.
type measure struct {
	name, function, label string

	declared []string // the measures of a drawing that has others
}

// request is the measure in a request, and field the name of its figure in a record.
func (m measure) request() string {
	if m.name == countMeasure {
		return "count"
	}
	return m.function + ":" + m.name
}

// requested are the measures of the figure.
func (m measure) requested() []string {
	if m.declared != nil {
		return m.declared
	}
	return []string{m.request()}
}

func (m measure) field() string { return strings.ReplaceAll(m.request(), ":", "_") }

// only is the function of ratings and rates, which are neither added up nor averaged: a figure of
// records that all have the same one.
const only = "min"

// requests are all measures that are asked for. most is the field of the greatest figure of several
// that must be the same.
func (m measure) requests() (measures []string, most string) {
	if m.function != only {
		return []string{m.request()}, ""
	}
	return []string{m.request(), "max:" + m.name}, "max_" + m.name
}

// measuresOf are the figures of an endpoint that mean something over several records.
func measuresOf(l *lang.Language, e *contract.Endpoint) []measure {
	var all []measure
	for _, f := range e.Figures {
		name := e.Names().Name(f.Field)
		switch f.Use {
		case contract.Added:
			all = append(all, measure{name: name, function: "sum", label: label(l, name)})
		case contract.Averaged:
			text := l.T("Mean of %s", strings.ToLower(label(l, name)))
			all = append(all, measure{name: name, function: "mean", label: text})
		case contract.Apart:
			i := slices.IndexFunc(e.Fields, func(x contract.Field) bool { return x.Name == name })
			if rank(e, &e.Fields[i]) == amount {
				all = append(all, measure{name: name, function: only, label: label(l, name)})
			}
		}
	}
	for _, h := range contract.Headlines {
		if field, distinct := strings.CutPrefix(h.Measures[0], "distinct:"); distinct && h.Path == e.Contract().Path {
			all = append(all, measure{name: e.Names().Name(field), function: "distinct", label: l.T(h.Title)})
		}
	}
	return append(all, measure{name: countMeasure, function: "count", label: l.T("Number of records")})
}

// unitOf is what a measure counts, for an axis.
func unitOf(l *lang.Language, e *contract.Endpoint, m measure) string {
	if m.name == countMeasure {
		return l.T("records")
	}
	unit := e.Texts().Unit(m.name)
	f := e.Figure(contract.ContractNames.Name(m.name))
	switch {
	case unit == "USD":
		return "US$"
	case unit == "" && f != nil && f.Use == contract.Added:
		return l.T(f.Noun)
	case unit == "":
		return strings.ToLower(m.label)
	}
	return l.T(unit)
}

// tooManyGroups says that an answer lacks groups, without which figures and their order would be
// wrong.
func tooManyGroups(total int) contract.Issue {
	return contract.Issue{Text: say.Join(
		say.Of("%s groups are more than a page can draw, which is %s.", Count(total), Count(contract.MaxLimit)),
		say.Of("Choose a country, a time, or fewer values."))}
}
