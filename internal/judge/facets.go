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
	names, sent := rd.q.names("of")
	if !sent {
		rd.refuse("of")
	}
	var done, more []string
	for _, name := range names {
		g := group{name, e.field(name)}
		if g.field == nil && (!slices.Contains(periodParts, name) || e.field(periodStart) == nil) {
			rd.refuse("of")
			break
		}
		if slices.Contains(done, name) {
			continue
		}
		done = append(done, name)
		groups := grouped([]group{g}, w.passing(e, withoutFilter(e, rd, name)))
		if g.field != nil && isNumber(g.field) && len(groups) > mostNumbers {
			rd.refuse("of")
			break
		}
		slices.SortStableFunc(groups, func(a, b *groupRows) int { return cmp.Compare(len(b.rows), len(a.rows)) })
		if n := len(groups) - mostFacets; n > 0 {
			more = append(more, fmt.Sprintf("%s=%d", name, n))
			groups = groups[:mostFacets]
		}
		for _, counted := range groups {
			all.values = append(all.values, []any{name, counted.values[0], int64(len(counted.rows))})
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

// withoutFilter has all filters but those of a field.
func withoutFilter(e *endpoint, rd *reader, field string) *reader {
	others := &reader{contract: rd.contract, levels: rd.levels}
	for _, p := range rd.q {
		if !restricts(p.name, field) {
			others.q = append(others.q, p)
		}
	}
	for _, p := range inOrder(rd.contract, e) {
		others.read(p)
		others.readList(p)
	}
	others.readSelection(e)
	return others
}
