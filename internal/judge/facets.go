package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// mostFacets is the most values of one field.
const mostFacets = 200

// mostNumbers is the most different values of a number that are counted.
const mostNumbers = 10000

// facets counts the values of fields among the rows that pass, for each field without its own
// filter.
func (w *world) facets(e *endpoint, rd *reader) records {
	all := records{fields: []string{"field", "value", "count"}}
	if _, sent := rd.q.names("of"); !sent {
		rd.refuse("of")
	}
	var more []string
	for _, g := range rd.readGroups(e, "of") {
		others := rd.only(e, func(param string) bool { return !restricts(param, g.name) })
		groups := grouped([]group{g}, w.passing(e, others))
		if g.field != nil && isNumber(g.field) && len(groups) > mostNumbers {
			rd.refuse("of")
			break
		}
		slices.SortStableFunc(groups, func(a, b *groupRows) int { return cmp.Compare(len(b.rows), len(a.rows)) })
		if n := len(groups) - mostFacets; n > 0 {
			more = append(more, fmt.Sprintf("%s=%d", g.name, n))
			groups = groups[:mostFacets]
		}
		for _, counted := range groups {
			all.values = append(all.values, []any{g.name, counted.values[0], int64(len(counted.rows))})
		}
	}
	all.more = strings.Join(more, ", ")
	return all
}

// restricts reports whether a parameter is a filter of a field itself: by value, list or bound. The
// two dates are those of the period.
func restricts(param, field string) bool {
	if param == "start_date" || param == "end_date" {
		return strings.HasPrefix(field, "reference_period_") || slices.Contains(periodParts, field)
	}
	for _, end := range []string{"", listSuffix, "_min", "_max"} {
		if param == field+end {
			return true
		}
	}
	return false
}
