package judge

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// sumCheck finds out whether figures add up what must not be added up.
type sumCheck struct {
	e      *endpoint
	rd     *reader
	groups []group
	rows   []row // that pass
}

// isApart reports whether rows with different values of a field are in different groups.
func (c *sumCheck) isApart(field string) bool {
	return slices.ContainsFunc(c.groups, func(g group) bool { return g.name == field })
}

// isOne reports whether the list is one of some.
func (c *sumCheck) isOne(lists []string) bool { return slices.Contains(lists, lastPart(c.e.Path)) }

func (rd *reader) wrongSum(e *endpoint, groups []group, measures []measure, rows []row) bool {
	c, law := &sumCheck{e, rd, groups, rows}, rd.contract.Sums
	amounts, averages := false, false
	for _, m := range measures {
		switch {
		case !m.adds():
		case slices.Contains(law.Additive, m.field.Name):
			amounts = true
		case m.function == "mean" && slices.Contains(law.Averaged, m.field.Name):
			averages = true
		default:
			return true
		}
	}
	if !amounts && !averages {
		return false
	}
	hasLevels := e.field("admin_level") != nil
	if hasLevels && c.leavesOut() {
		return true
	}
	for _, field := range law.Alike[lastPart(e.Path)] {
		isMixed := func(rows []row) bool { return len(valuesOf(field, rows)) > 1 }
		if averages && !c.isApart(field) && c.inGroups(c.groupKey, isMixed) {
			return true
		}
	}
	// The slowest last.
	return amounts && (c.overlaps() || c.hasTotals() || c.hasPeriods()) || hasLevels && c.nests()
}

// inGroups reports whether something is wrong with the rows of a group, by a key that they have in
// common.
func (c *sumCheck) inGroups(key func(r row) string, wrong func(rows []row) bool) bool {
	groups := map[string][]row{}
	for _, r := range c.rows {
		groups[key(r)] = append(groups[key(r)], r)
	}
	for _, rows := range groups {
		if wrong(rows) {
			return true
		}
	}
	return false
}

// leavesOut reports whether figures of lower places have rows without such a place.
func (c *sumCheck) leavesOut() bool {
	return c.rd.kept.coarsest && slices.ContainsFunc(c.groups, func(g group) bool {
		return slices.ContainsFunc(c.rows, func(r row) bool {
			level := r.stored["admin_level"].(int64)
			return level < 1 && strings.Contains(g.name, "admin1_") || level < 2 && strings.Contains(g.name, "admin2_")
		})
	})
}

// nests looks for rows of which one is of a place that contains the other's. Of figures that count
// everything anew, periods that differ may count the same too.
func (c *sumCheck) nests() bool {
	if c.isApart("admin_level") || len(valuesOf("admin_level", c.rows)) < 2 {
		return false
	}
	always := c.isOne(c.rd.contract.Sums.Stocks) && !(c.rd.kept.coarsest && c.rd.kept.edition) &&
		!c.isApart(periodStart) && !c.oneInEach(c.groupKey, periodColumns...)
	key := func(r row) string { return c.groupKey(r) + "\x00" + fieldsKey(c.e, r) }
	return c.inGroups(key, func(rows []row) bool {
		if len(valuesOf("admin_level", rows)) < 2 {
			return false
		}
		for _, whole := range rows {
			if whole.stored["admin_level"].(int64) == lowestLevel {
				continue
			}
			for _, part := range rows {
				if containsPlace(whole, part) && (always || sharesMoment(whole, part)) {
					return true
				}
			}
		}
		return false
	})
}

// groupKey is a text that the rows of a group have in common.
func (c *sumCheck) groupKey(r row) string {
	var b strings.Builder
	for _, g := range c.groups {
		b.WriteString(valueKey(g.of(r)))
	}
	return b.String()
}

// oneInEach reports whether rows with one key have one value in each of some columns.
func (c *sumCheck) oneInEach(key func(r row) string, columns ...string) bool {
	first := map[string]string{}
	for _, r := range c.rows {
		of, value := key(r), keyText(columns, r)
		if before, known := first[of]; known && before != value {
			return false
		}
		first[of] = value
	}
	return true
}

// overlaps looks for rows of a group that count the same people: of several values of a field. The
// values that mean everybody are one, unless a place has rows of several of them.
func (c *sumCheck) overlaps() bool {
	for _, field := range c.rd.contract.Sums.Overlapping[lastPart(c.e.Path)] {
		key := c.groupKey
		if field == "category" && c.rd.kept.everybody {
			key = func(r row) string {
				text := c.groupKey(r)
				for _, f := range c.e.Fields {
					if f.Name != field && f.Name != "population" && f.Name != "resource_catalog_id" &&
						!slices.Contains(periodColumns, f.Name) {
						text += valueKey(r.at(f.Name))
					}
				}
				return text
			}
		}
		if !c.isApart(field) && !c.oneInEach(key, field) {
			return true
		}
	}
	return false
}

// hasTotals looks for values that contain other ones.
func (c *sumCheck) hasTotals() bool {
	for field, totals := range c.rd.contract.Sums.Totals {
		if c.e.field(field) == nil || c.isApart(field) {
			continue
		}
		mixes := func(rows []row) bool {
			present := valuesOf(field, rows)
			for _, whole := range present {
				for _, part := range present {
					shareAges := field == "age_range" && overlaps(whole, part)
					if whole != part && (shareAges || contains(totals, whole, part)) {
						return true
					}
				}
			}
			return false
		}
		if c.inGroups(c.groupKey, mixes) {
			return true
		}
	}
	return false
}

// contains reports whether one value counts what another one counts too.
func contains(totals map[string][]string, whole, part string) bool {
	parts, isTotal := totals[whole]
	return isTotal && (len(parts) == 0 || slices.Contains(parts, part))
}

// overlaps reports whether two ranges of ages, such as 0-4, 5 and 80+, share an age. What is no
// range may have any age.
func overlaps(a, b string) bool {
	fromA, toA, okA := ages(a)
	fromB, toB, okB := ages(b)
	return !okA || !okB || fromA <= toB && fromB <= toA
}

func ages(text string) (from, to int, ok bool) {
	low, high, isRange := strings.Cut(text, "-")
	if open, isOpen := strings.CutSuffix(text, "+"); isOpen {
		low, high = open, "1000"
	} else if !isRange {
		high = low
	}
	from, errFrom := strconv.Atoi(low)
	to, errTo := strconv.Atoi(high)
	return from, to, errFrom == nil && errTo == nil
}

// hasPeriods looks for figures of several times that count everything anew, and for figures of
// times of which one is a part of another.
func (c *sumCheck) hasPeriods() bool {
	isStock := c.isOne(c.rd.contract.Sums.Stocks) || c.isOne(c.rd.contract.Sums.Yearly)
	switch {
	case c.isApart(periodStart) || !isStock:
		return c.hasCrossing()
	case c.rd.kept.edition || c.oneInEach(c.groupKey, periodColumns...):
		return false
	case c.rd.kept.latest && c.e.field("admin_level") != nil:
		return !c.oneInEach(func(r row) string {
			return valueKey(r.stored["location_code"]) + valueKey(r.stored["admin_level"])
		}, periodColumns...)
	}
	return true
}

// hasCrossing looks for rows of one series with different periods that share a moment. The month
// that a year begins with is not the time of that year, so parts of the time are no groups here.
func (c *sumCheck) hasCrossing() bool {
	whole := *c
	whole.groups = slices.DeleteFunc(slices.Clone(c.groups), func(g group) bool {
		return c.e.field(g.name) == nil
	})
	bySeries := map[string][]row{}
	for _, r := range c.rows {
		text := whole.groupKey(r) + "\x00" + seriesKey(c.e, r)
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
