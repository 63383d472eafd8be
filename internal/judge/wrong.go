package judge

import (
	"slices"
	"strings"
)

// wrongSum returns the parameter to blame if figures would be wrong, and "" if they are right.
func (rd *reader) wrongSum(e *endpoint, groups []group, measures []measure, rows []row, onlyNewest bool) string {
	adding := false
	var means bool
	for _, m := range measures {
		if !m.adds() {
			continue
		}
		adding = true
		if slices.Contains(additive, m.field.Name) {
			continue
		}
		if m.function == "sum" || !slices.Contains(averaged, m.field.Name) {
			return "measures"
		}
		means = true
	}
	if !adding {
		return ""
	}
	apart := func(name string) bool { // rows with different values are not added up
		return slices.ContainsFunc(groups, func(g group) bool { return g.name == name }) || rd.pins(e, name)
	}
	name := lastPart(e.Path)
	if e.field("admin_level") != nil && !apart("admin_level") && len(valuesOf("admin_level", rows)) > 1 {
		return "group_by"
	}
	for _, field := range overlapping[name] {
		if !apart(field) {
			return "group_by"
		}
	}
	if slices.Contains(stocks, name) && !onlyNewest && !apart(periodStart) {
		return "group_by"
	}
	for _, field := range withTotals {
		if e.field(field) == nil || apart(field) {
			continue
		}
		present := valuesOf(field, rows)
		for _, whole := range present {
			for _, part := range present {
				if contains(field, whole, part) {
					return "group_by"
				}
			}
		}
	}
	for _, field := range alike[name] {
		if means && !apart(field) && len(valuesOf(field, rows)) > 1 {
			return "group_by"
		}
	}
	return ""
}

// pins reports whether a filter leaves one value of a field.
func (rd *reader) pins(e *endpoint, field string) bool {
	p := e.param(field)
	if p == nil {
		return false
	}
	value, sent := rd.q.last(field)
	if sent && value != "" {
		return true
	}
	list, sent := rd.q.last(field + listSuffix)
	return sent && !strings.Contains(list, ",")
}

// valuesOf lists the different values of a field that rows print.
func valuesOf(field string, rows []row) []string {
	var all []string
	seen := map[string]bool{}
	for _, r := range rows {
		text := csvFigure(r.at(field))
		if !seen[text] {
			seen[text] = true
			all = append(all, text)
		}
	}
	return all
}
