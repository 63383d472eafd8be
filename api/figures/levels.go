package figures

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/index"
)

// Sums over places of several levels: rows may be added up unless one is of a place that contains
// the other's.

// levelColumn is the level of a record, and the name of its field in both sets.
const levelColumn = "admin_level"

// levelOfField is the level of the places that a field tells apart: 1 for admin1_code, 0 for
// countries and fields that are of no place.
func levelOfField(name string) int {
	for level, unit := range []string{"admin1_", "admin2_"} {
		if strings.Contains(name, unit) {
			return level + 1
		}
	}
	return 0
}

// lowestGroup is the level of the lowest places that a request groups by, and a field of it.
func (c *checker) lowestGroup(r *contract.Request) (level int, field string) {
	for _, g := range r.Groups {
		name := c.plan.Endpoint.Fields[g.Field].Name
		if of := levelOfField(name); of > level {
			level, field = of, name
		}
	}
	return level, field
}

// checkLowerPlace looks for rows of the coarsest places that have no place of the level that is
// grouped by: they would be one group of all countries.
func (c *checker) checkLowerPlace(r *contract.Request, measure string) (*violation, error) {
	level, field := c.lowestGroup(r)
	if !r.Coarsest || level == 0 || c.plan.Endpoint.Units() == nil {
		return nil, nil
	}
	counts, err := c.counts(r, []aggregate.Group{{Column: levelColumn}})
	if err != nil {
		return nil, err
	}
	levels := valuesOf(counts[0])
	if len(levels) == 0 || levels[0] >= strconv.Itoa(level) {
		return nil, nil
	}
	return &violation{
		param: levelColumn,
		text: fmt.Sprintf("%s by %s leaves places out: with %s=%s rows of level %s pass, which have no %[2]s. "+
			"Send %[3]s=%[6]d, or group by %[7]s.",
			measure, field, levelColumn, contract.Coarsest, levels[0], level, countryColumn),
		fix: func(d *queryEdit) { c.keepLevel(d, level) },
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
			at := row
			if column.Group != nil {
				at = uint32(column.Group.Codes.At(row))
			}
			if text := column.Text(at); text != "" && (name != u.Code || !contract.IsPlaceholder(text)) {
				place = text
				break
			}
		}
	}
	return place
}

// keepLevel keeps one level, unless remedies group: then it groups by countries.
func (c *checker) keepLevel(d *queryEdit, level int) {
	if !c.group {
		d.set(levelColumn, strconv.Itoa(level))
		return
	}
	isLower := func(name string) bool { return levelOfField(name) > 0 }
	d.setList("group_by", slices.DeleteFunc(d.list("group_by"), isLower))
	d.group(countryColumn)
}

// checkNested looks for rows of which one is of a place that contains the other's. onePeriod
// reports whether the rows of each group have one period.
func (c *checker) checkNested(
	r *contract.Request, measure string, onePeriod func() (bool, error),
) (*violation, error) {
	e := c.plan.Endpoint
	if c.adder.Overlaps == nil || c.isGrouped(r, &contract.Dimension{Field: levelColumn}, contract.Whole) {
		return nil, nil
	}
	isStock := slices.ContainsFunc(e.Dimensions, func(d contract.Dimension) bool { return d.Kind == contract.Stock })
	// A figure of this year has in it who was counted in a part of the country the year before.
	anyPeriod := isStock && !(r.Coarsest && r.Edition) &&
		!c.isGrouped(r, &contract.Dimension{Field: contract.PeriodStart}, contract.Whole)
	if anyPeriod {
		one, err := onePeriod()
		if anyPeriod = !one; err != nil {
			return nil, err
		}
	}
	var q index.Query
	c.list.FillQuery(&q, r, nil)
	found, err := c.adder.Overlaps.FirstNested(&q, anyPeriod)
	many := errors.Is(err, index.ErrManyOverlaps)
	if err != nil && !many || err == nil && found == nil {
		return nil, err
	}
	said := ""
	if found != nil {
		said = fmt.Sprintf("%s counts twice: rows of %s pass, and of %s, which contains it", measure,
			c.placeOf(found.B), c.placeOf(found.A))
	} else {
		said = fmt.Sprintf("%s may count twice: more than %d rows pass of places with rows of several levels", measure,
			index.MaxOverlaps)
	}
	w := &violation{param: levelColumn}
	lowest, _ := c.lowestGroup(r)
	switch {
	case c.group || r.Coarsest && (r.Edition || !isStock):
		w.text = said + ". Group by admin_level."
		w.fix = func(d *queryEdit) { d.group(levelColumn) }
	case r.Coarsest:
		w.text = said + ", in different periods. Send latest=edition, or group by admin_level."
		w.fix = setEdition
	case lowest > 0:
		w.text = fmt.Sprintf("%s. Send admin_level=%d, or group by admin_level.", said, lowest)
		w.fix = func(d *queryEdit) { c.keepLevel(d, lowest) }
	default:
		w.text = said + ". Send admin_level=coarsest, keep one level, or group by admin_level."
		w.fix = func(d *queryEdit) { d.set(levelColumn, contract.Coarsest) }
	}
	return w, nil
}
