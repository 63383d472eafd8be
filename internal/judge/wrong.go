package judge

import (
	"slices"
	"time"
)

// sumCheck finds out whether figures add up what must not be added up.
type sumCheck struct {
	e      *endpoint
	rd     *reader
	groups []group
	rows   []row // that pass
}

// same are fields whose filters keep values of another one.
var same = map[string][]string{
	"sector_code": {"sector_name"}, "commodity_code": {"commodity_name"},
}

// isApart reports whether rows with different values of a field are in different groups.
func (c *sumCheck) isApart(field string) bool {
	return slices.ContainsFunc(c.groups, func(g group) bool { return g.name == field })
}

// hasFilter reports whether a field has a filter, isFiltered whether the request uses one.
func (c *sumCheck) hasFilter(field string) bool {
	return slices.ContainsFunc(append([]string{field}, same[field]...), func(name string) bool {
		return c.e.param(name) != nil
	})
}

func (c *sumCheck) isFiltered(field string) bool {
	names := append([]string{field}, same[field]...)
	if field == periodStart {
		names = []string{"start_date", "end_date"}
	}
	for _, p := range c.rd.q {
		for _, name := range names {
			if c.e.param(name) != nil && p.value != "" && (p.name == name || p.name == name+listSuffix) {
				return true
			}
		}
	}
	return false
}

// wrongSum reports whether figures would be wrong.
func (rd *reader) wrongSum(e *endpoint, groups []group, measures []measure, rows []row, onlyNewest bool) bool {
	c := &sumCheck{e, rd, groups, rows}
	amounts, averages := false, false
	for _, m := range measures {
		switch {
		case !m.adds():
		case slices.Contains(additive, m.field.Name):
			amounts = true
		case m.function == "mean" && slices.Contains(averaged, m.field.Name):
			averages = true
		default:
			return true
		}
	}
	if !amounts && !averages {
		return false
	}
	if e.field("admin_level") != nil && !c.isApart("admin_level") && len(valuesOf("admin_level", rows)) > 1 {
		return true
	}
	for _, field := range alike[lastPart(e.Path)] {
		if averages && !c.isApart(field) && len(valuesOf(field, rows)) > 1 {
			return true
		}
	}
	return amounts && (c.overlaps() || c.hasTotals() || c.hasPeriods(onlyNewest))
}

// overlaps looks for rows that count the same people: of several values of a field, or of one value
// that no filter keeps although the field has one.
func (c *sumCheck) overlaps() bool {
	for _, field := range overlapping[lastPart(c.e.Path)] {
		values := valuesOf(field, c.rows)
		chosen := !c.hasFilter(field) || c.isFiltered(field)
		if !c.isApart(field) && (len(values) > 1 || len(values) == 1 && values[0] != "" && !chosen) {
			return true
		}
	}
	return false
}

// hasTotals looks for values that contain other ones.
func (c *sumCheck) hasTotals() bool {
	for _, field := range withTotals {
		if c.e.field(field) == nil || c.isApart(field) {
			continue
		}
		present := valuesOf(field, c.rows)
		for _, whole := range present {
			for _, part := range present {
				if contains(field, whole, part) {
					return true
				}
			}
		}
	}
	return false
}

// hasPeriods looks for figures of several times that count everything anew, and for figures of
// times of which one is a part of another.
func (c *sumCheck) hasPeriods(onlyNewest bool) bool {
	if c.isApart(periodStart) {
		return false
	}
	if !slices.Contains(stocks, lastPart(c.e.Path)) {
		return c.hasCrossing()
	}
	if onlyNewest {
		return false
	}
	if starts := valuesOf(periodStart, c.rows); len(starts) == 0 || len(starts) == 1 && c.isFiltered(periodStart) {
		return false
	}
	return !slices.ContainsFunc(c.groups, func(g group) bool {
		return slices.Contains(periodParts, g.name) && c.hasOneStart(g.name)
	})
}

// hasOneStart reports whether the rows of each year, quarter or month start at one time.
func (c *sumCheck) hasOneStart(part string) bool {
	seen := map[any]string{}
	for _, r := range c.rows {
		var of any
		if at, known := r.stored[periodStart].(time.Time); known {
			of = partOf(part, at)
		}
		at := valueKey(r.stored[periodStart])
		if before, known := seen[of]; known && before != at {
			return false
		}
		seen[of] = at
	}
	return true
}

// hasCrossing looks for rows of one series with different periods that share a moment.
func (c *sumCheck) hasCrossing() bool {
	bySeries := map[string][]row{}
	for _, r := range c.rows {
		text := keyText(seriesOf(c.e), r)
		for _, other := range bySeries[text] {
			same := keyText(periodColumns, r) == keyText(periodColumns, other)
			if !same && sharesMoment(r, other) {
				return true
			}
		}
		bySeries[text] = append(bySeries[text], r)
	}
	return false
}

var periodColumns = []string{periodStart, "reference_period_end"}

func sharesMoment(a, b row) bool {
	before := func(x, y any) bool { // the end x is before the start y
		end, closed := x.(time.Time)
		start, begun := y.(time.Time)
		return closed && begun && end.Before(start)
	}
	return !before(a.stored["reference_period_end"], b.stored[periodStart]) &&
		!before(b.stored["reference_period_end"], a.stored[periodStart])
}

// valuesOf lists the different values of a field that rows print.
func valuesOf(field string, rows []row) []string {
	var all []string
	seen := map[string]bool{}
	for _, r := range rows {
		text := csvValue(r.at(field))
		if !seen[text] {
			seen[text] = true
			all = append(all, text)
		}
	}
	return all
}
