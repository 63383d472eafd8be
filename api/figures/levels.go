package figures

import (
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/say"
)

// Sums over places of several levels: rows may be added up unless one is of a place that contains
// the other's.

// levelColumn is the level of a record, and the name of its field in both sets.
const levelColumn = "admin_level"

// levelOfField is the level of the places that a field names: 1 for admin1_code, 0 for countries
// and fields that name no place.
func levelOfField(name string) int {
	for level, unit := range []string{"admin1_", "admin2_"} {
		if strings.Contains(name, unit) {
			return level + 1
		}
	}
	return 0
}

// lowestGroup is the level of the lowest places that a request groups by, and a field of it.
func lowestGroup(r *contract.Question) (level int, field string) {
	for _, g := range r.Groups {
		name := r.Endpoint().Fields[g.Field].Name
		if of := levelOfField(name); of > level {
			level, field = of, name
		}
	}
	return level, field
}

// checkLowerPlace looks for rows of the coarsest places that have no place of the level that is
// grouped by: they would be one group of all countries.
func (c *checker) checkLowerPlace(s *sum) (*violation, error) {
	level, field := lowestGroup(s.Question)
	if !s.Coarsest || level == 0 || c.plan.Endpoint.Units() == nil {
		return nil, nil
	}
	least := ""
	where, err := c.judgeGroups(s.Question, nil, levelColumn, func(levels []string) bool {
		least = levels[0]
		return least < strconv.Itoa(level)
	})
	if err != nil || !c.isWrong(where) {
		return nil, err
	}
	kept, fix := c.keepLevel(s.Question, level)
	return &violation{
		param: levelColumn,
		text: say.Join(say.Of("%s by %s leaves places out: with %s rows of level %s pass, which have no %s.",
			s.measure, field, levelColumn+"="+contract.Coarsest, least, field),
			say.Of("Send %s, or group by %s.", kept, countryColumn)),
		fix: fix,
	}, nil
}

// placeOf is the code of a row's place, or its name where it has no code of its own.
func (c *checker) placeOf(row uint32) (place string) {
	for _, u := range c.plan.Endpoint.Units() {
		for _, name := range []string{u.Code, u.ProviderName} {
			column, err := c.list.Segment.Column(name)
			if err != nil {
				continue
			}
			text := column.Text(column.Position(row))
			if text != "" && (name != u.Code || !contract.IsPlaceholder(text)) {
				place = text
				break
			}
		}
	}
	return place
}

// keepLevel keeps the rows of a level and says how. Where that leaves places out, it keeps the
// coarsest of the rows that are not above it. Remedies that group take all levels apart instead.
func (c *checker) keepLevel(r *contract.Question, level int) (said string, fix func(query *contract.Question)) {
	const levelsParam = levelColumn + contract.SeveralSuffix
	at := strconv.Itoa(level)
	said = levelColumn + "=" + at
	if c.group {
		return said, func(query *contract.Question) {
			query.Coarsest = false
			query.GroupBy(countryColumn, levelColumn)
		}
	}
	levels := r.Texts(levelsParam)
	if len(levels) == 0 {
		levels = []string{"0", "1", "2"}
	}
	levels = slices.DeleteFunc(levels, func(of string) bool { return of < at })
	one := func(query *contract.Question) { query.Keep(levelColumn, at) }
	several := func(query *contract.Question) {
		query.Keep(levelColumn, contract.Coarsest).Keep(levelsParam, levels...)
	}
	all, err := c.countEdited(r, several)
	if some, errOne := c.countEdited(r, one); err != nil || errOne != nil || some == all {
		return said, one
	}
	return levelColumn + "=coarsest&" + levelsParam + "=" + strings.Join(levels, ","), several
}

// countEdited counts the rows that pass an edited question.
func (c *checker) countEdited(r *contract.Question, edit func(*contract.Question)) (rows int, err error) {
	edited := r.Copy()
	edit(edited)
	return c.list.CountRows(edited)
}

// isOfAnyPeriod reports whether rows count the same whatever their periods: a figure of this year
// has in it who was counted in a part of the country the year before.
func (c *checker) isOfAnyPeriod(r *contract.Question) bool {
	return isStock(c.plan.Endpoint) && !(r.Coarsest && r.Edition) && !c.isGrouped(r, contract.PeriodStart)
}

// isStock reports whether each period counts everything anew.
func isStock(e *contract.Endpoint) bool {
	return slices.ContainsFunc(e.Dimensions, func(d contract.Dimension) bool {
		return d.Kind == contract.Stock
	})
}

// checkNested looks for rows of one group of which one is of a place that contains the other's. It
// notes those of different groups.
func (c *checker) checkNested(s *sum) (*violation, error) {
	if c.adder.Overlaps == nil || c.isGrouped(s.Question, levelColumn) {
		return nil, nil
	}
	anyPeriod := c.isOfAnyPeriod(s.Question) && len(s.periods) > 0
	found, where, many, err := c.search(s, nil, anyPeriod, c.adder.Overlaps.Nested)
	if err == nil && found != nil && len(s.groups) > 0 {
		found, where, many, err = c.search(s, s.groups, anyPeriod, c.adder.Overlaps.Nested)
		c.nests = len(where) == 0
	}
	if err != nil || !c.isWrong(where) {
		return nil, err
	}
	several := "%s may count twice: more than %s rows pass of places with rows of several levels."
	twice := "%s counts twice: rows of %s pass, and of %s, which contains it."
	canKeepNewest := s.Coarsest && !s.Edition && isStock(c.plan.Endpoint) && !c.group && !isOverTime(s.Question)
	if canKeepNewest {
		several = "%s may count twice: more than %s rows pass of places with rows of several levels, " +
			"in different periods."
		twice = "%s counts twice: rows of %s pass, and of %s, which contains it, in different periods."
	}
	text := say.Of(several, s.measure, maxOverlaps)
	if !many {
		text = say.Of(twice, s.measure, c.placeOf(found.B), c.placeOf(found.A))
	}
	w := &violation{param: levelColumn}
	lowest, _ := lowestGroup(s.Question)
	switch {
	case canKeepNewest:
		w.text = say.Join(text, say.Of("Send %s, or group by %s.", "latest=edition", levelColumn))
		w.fix = setEdition
	case c.group || s.Coarsest:
		w.text = say.Join(text, say.Of("Group by admin_level."))
		w.fix = func(query *contract.Question) { query.GroupBy(levelColumn) }
	case lowest > 0:
		var kept string
		kept, w.fix = c.keepLevel(s.Question, lowest)
		w.text = say.Join(text, say.Of("Send %s, or group by %s.", kept, levelColumn))
	default:
		w.text = say.Join(text, say.Of("Send admin_level=coarsest, keep one level, or group by admin_level."))
		w.fix = func(query *contract.Question) { query.Keep(levelColumn, contract.Coarsest) }
	}
	return w, nil
}
