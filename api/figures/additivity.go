package figures

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"hdqs/aggregate"
	"hdqs/api/additivity"
	"hdqs/api/contract"
	"hdqs/api/say"
)

// Sums and means are checked before they are made: against what the endpoint declares of its
// fields, and against the values that occur among the rows that pass the filters (package
// additivity), after latest and admin_level=coarsest.
//
// The rows of each group are judged for themselves: what falls into different groups is not added
// up. A field whose values overlap must have one value in each, whether a filter leaves it, or
// latest, or nothing else occurs.

// check finds what is wrong with the sums and means of a request.
func (c *checker) check(r *contract.Question) ([]violation, error) {
	var wrong []violation
	amount, average := "", ""
	for _, m := range r.Measures {
		if m.Func != aggregate.Sum && m.Func != aggregate.Mean {
			continue
		}
		figure := c.plan.Endpoint.Figure(c.plan.Endpoint.Fields[m.Field].Column())
		switch {
		case !figure.Allows(m.Func):
			wrong = append(wrong, c.notSummable(m, figure))
		case figure.Use == contract.Added:
			amount = c.plan.Endpoint.MeasureName(m)
		default:
			average = c.plan.Endpoint.MeasureName(m)
		}
	}
	if amount == "" && average == "" {
		return wrong, nil
	}
	s := &sum{Question: r, measure: cmp.Or(amount, average), groups: questionOf(r, c.plan.Endpoint, nil).Groups}
	asked := c.questions(r, amount, average)
	var by []aggregate.Group
	for _, q := range asked {
		by = append(by, aggregate.Group{Column: q.Field})
	}
	counts, err := c.counts(r, by...)
	if many, ok := errors.AsType[*aggregate.TooManyValues](err); ok {
		i := slices.IndexFunc(asked, func(q dimensionQuestion) bool { return q.Field == many.Column })
		q := &asked[i]
		return append(wrong, *c.grouping(q, say.Join(
			say.Of("%s adds up rows of more than %s values of %s.", q.measure, many.Max, q.field),
			say.Of("Group by %s, or filter.", q.field)))), nil
	}
	if err == nil {
		err = c.lookInGroups(s, asked, counts)
	}
	if err != nil {
		return nil, err
	}
	add := func(w *violation, failed error) {
		if w != nil {
			wrong = append(wrong, *w)
		}
		err = cmp.Or(err, failed)
	}
	add(c.checkLowerPlace(s))
	add(c.checkNested(s))
	for i := range asked {
		add(c.judge(s, &asked[i], valuesOf(counts[i])))
	}
	add(c.checkOverlaps(s, amount))
	return wrong, err
}

// lookInGroups asks in one question which fields have several values in a group.
func (c *checker) lookInGroups(s *sum, asked []dimensionQuestion, counts []*aggregate.Result) (err error) {
	columns, needsPeriod := []string(nil), c.isOfAnyPeriod(s.Question)
	for i := range asked {
		switch asked[i].Kind {
		case contract.Overlapping:
			if counts[i].Len() > 1 {
				columns = append(columns, asked[i].Field)
			}
		case contract.Stock, contract.Yearly:
			needsPeriod = true
		}
	}
	if needsPeriod {
		columns = append(columns, contract.PeriodStart, contract.PeriodEnd)
	}
	s.several, err = c.several(s.Question, s.groups, columns...)
	s.periods = parts{}
	s.periods.add(s.several[contract.PeriodStart])
	s.periods.add(s.several[contract.PeriodEnd])
	return err
}

// notSummable is what is wrong with a measure of a number that is no amount.
func (c *checker) notSummable(m contract.Measure, figure *contract.Figure) violation {
	e := c.plan.Endpoint
	field, measure := e.Fields[m.Field].Name, e.MeasureName(m)
	instead := []aggregate.Func{aggregate.Min, aggregate.Max}
	switch {
	case figure.Allows(aggregate.Mean):
		instead = []aggregate.Func{aggregate.Mean}
	case figure.Use == contract.Label:
		instead = []aggregate.Func{aggregate.Distinct}
	}
	var others []contract.Measure
	var names []string
	for _, f := range instead {
		other := contract.Measure{Func: f, Field: m.Field}
		others, names = append(others, other), append(names, e.MeasureName(other))
	}
	return violation{
		param: measuresParam,
		text: say.Join(say.Of("%s means nothing: %s is %s.", measure, field, figure.Noun),
			say.Of("Ask for %s.", say.And(names))),
		fix: func(query *contract.Question) { replaceMeasure(query, m, others) },
	}
}

// dimensionQuestion asks whether the rows may be added up over a dimension.
type dimensionQuestion struct {
	*contract.Dimension
	field   string // its name in the request
	measure string // that adds
}

// questions lists the dimensions that a request adds over.
func (c *checker) questions(r *contract.Question, amount, average string) (asked []dimensionQuestion) {
	e := c.plan.Endpoint
	for i := range e.Dimensions {
		d := &e.Dimensions[i]
		measure := amount
		switch d.Kind {
		case contract.Parts, contract.Flow, contract.Levels:
			continue
		case contract.Alike:
			measure = average
		case contract.Stock, contract.Yearly:
			if r.Edition {
				continue
			}
		}
		if measure == "" || c.isGrouped(r, d.Field) {
			continue
		}
		asked = append(asked, dimensionQuestion{Dimension: d, field: e.Names().Name(d.Field), measure: measure})
	}
	return asked
}

// judge returns what is wrong with adding over a dimension, nil if nothing is.
func (c *checker) judge(s *sum, q *dimensionQuestion, values []string) (*violation, error) {
	switch {
	case q.Kind == contract.Overlapping:
		return c.judgeOverlapping(s, q, values)
	case q.Kind == contract.Stock || q.Kind == contract.Yearly:
		return c.judgePeriods(s, q, values)
	case additivity.Check(q.Dimension, values) == nil:
		return nil, nil
	}
	var found *additivity.Violation // of the first group
	where, err := c.judgeGroups(s.Question, s.groups, q.Field, func(values []string) bool {
		of := additivity.Check(q.Dimension, values)
		found = cmp.Or(found, of)
		return of != nil
	})
	if err != nil || !c.isWrong(where) {
		return nil, err
	}
	found = cmp.Or(found, additivity.Check(q.Dimension, values))
	switch {
	case q.Kind == contract.Alike:
		return c.grouping(q, say.Join(
			say.Of("%s compares what cannot be compared: rows of %s %s pass.", q.measure, q.field, say.And(values)),
			say.Of("Group by %s, or keep one value.", q.field))), nil
	case found.Total != "":
		return c.mixes(s, q, values, say.Of("%s contains %s", found.Total, say.And(found.Parts))), nil
	}
	return c.mixes(s, q, values, say.Of("%s overlaps %s", found.Ranges[0], found.Ranges[1])), nil
}

// grouping is a wrong sum that grouping by another field mends.
func (c *checker) grouping(q *dimensionQuestion, text say.Text) *violation {
	return &violation{
		param: paramOf(c.plan, q.Dimension),
		text:  text,
		fix:   func(query *contract.Question) { query.GroupBy(q.field) },
	}
}

// keeping is a wrong sum that a filter mends, unless remedies are to group.
func (c *checker) keeping(q *dimensionQuestion, value string, text say.Text) *violation {
	w := c.grouping(q, say.Join(text, say.Of("Send %s, or group by %s.", q.field+"="+value, q.field)))
	if !c.group {
		w.fix = func(query *contract.Question) { keep(query, q.field, value) }
	}
	return w
}

// keeps reports whether a filter can keep the rows that are not broken down. It takes the place of
// no other: who asks for several values asks for each.
func (c *checker) keeps(s *sum, q *dimensionQuestion, values []string) bool {
	return q.Keep != "" && !c.group && !s.Has(q.field) && slices.Contains(values, q.Keep) &&
		c.covers(s.Question, func(query *contract.Question) { keep(query, q.field, q.Keep) })
}

// mixes is a wrong sum over values that contain others, or overlap, as said.
func (c *checker) mixes(s *sum, q *dimensionQuestion, values []string, why say.Text) *violation {
	text := say.Of("%s counts twice: rows of several values of %s pass, of which %s.", q.measure, q.field, why)
	if c.keeps(s, q, values) {
		return c.keeping(q, q.Keep, text)
	}
	return c.grouping(q, say.Join(text,
		say.Of("Group by %s, or keep values that do not contain one another.", q.field)))
}

// judgeOverlapping looks for several values in a group.
func (c *checker) judgeOverlapping(s *sum, q *dimensionQuestion, values []string) (*violation, error) {
	where := s.several[q.Field]
	isEverybody := s.Everybody && q.Everybody != nil
	if isEverybody && len(where) > 0 { // one value, unless a place has rows of several
		found, err := c.several(s.Question, withPlaces(c.plan.Endpoint, s.groups, q), q.Field)
		if where = found[q.Field]; err != nil {
			return nil, err
		}
	}
	if !c.isWrong(where) {
		return nil, nil
	}
	text := say.Of("%s counts the same people several times: rows of %s %s pass.", q.measure, q.field, say.And(values))
	sending := func(sent string, fix func(*contract.Question)) *violation {
		w := c.grouping(q, say.Join(text, say.Of("Send %s, or group by %s.", sent, q.field)))
		w.fix = fix
		return w
	}
	isRound := slices.Contains(c.plan.Endpoint.Rounds, q.Field)
	switch {
	case isRound && !s.Edition && !c.group && !isOverTime(s.Question):
		return sending("latest=edition", setEdition), nil
	case q.Everybody != nil && !isEverybody && !c.group && c.covers(s.Question, setEverybody):
		return sending("everybody=true", setEverybody), nil
	case c.keeps(s, q, values):
		return c.keeping(q, q.Keep, text), nil
	}
	return c.grouping(q, say.Join(text, say.Of("Group by %s, or keep one value with a filter.", q.field))), nil
}

// withPlaces adds the other dimensions to groups, without the period.
func withPlaces(e *contract.Endpoint, groups []aggregate.Group, q *dimensionQuestion) []aggregate.Group {
	for i := range e.Fields {
		column := e.Fields[i].Column()
		switch d := e.Dimension(column); {
		case d == nil || d == q.Dimension || d.Field == contract.PeriodStart || column == "resource_catalog_id":
		default:
			groups = append(groups, aggregate.Group{Column: column})
		}
	}
	return groups
}

// judgePeriods looks for figures of several periods in a group, each of which counts everybody.
func (c *checker) judgePeriods(s *sum, q *dimensionQuestion, values []string) (*violation, error) {
	where := s.periods
	if len(where) > 0 && s.Latest && c.plan.Endpoint.Units() != nil {
		levels, err := c.several(s.Question, []aggregate.Group{{Column: countryColumn}, {Column: levelColumn}},
			contract.PeriodStart, contract.PeriodEnd)
		if err != nil {
			return nil, err
		}
		where = maps.Clone(where)
		maps.DeleteFunc(where, func(part string, _ bool) bool {
			return !levels[contract.PeriodStart][part] && !levels[contract.PeriodEnd][part]
		})
	}
	if !c.isWrong(where) {
		return nil, nil
	}
	why := say.Of("and each counts everybody anew")
	if q.Kind == contract.Yearly {
		why = say.Of("and each is of people who may be counted again the year after")
	}
	text := func(format string) say.Text { return say.Of(format, q.measure, say.And(values), why) }
	format := "%s counts the same people several times: rows of periods that start at %s pass, %s."
	switch {
	case isOverTime(s.Question):
		return c.grouping(q, say.Join(text("%s counts the same people several times: rows of periods that start at %s "+
			"pass, several of them in one group, %s."), say.Of("Group by %s.", q.field))), nil
	case s.Latest:
		format = "%s counts the same people several times: rows of periods that start at %s pass, since the " +
			"newest rows of some places are older than those of others, %s."
	}
	if !c.leaves(s.Question, setEdition) { // the newest period of the list is of other places
		return c.grouping(q, say.Join(text(format), say.Of("Group by %s.", q.field))), nil
	}
	return &violation{
		param: contract.LatestParam,
		text: say.Join(text(format),
			say.Of("Send latest=edition, keep one period with start_date and end_date, or group by %s.", q.field)),
		fix: func(query *contract.Question) {
			if setEdition(query); c.group {
				query.GroupBy(q.field)
			}
		},
	}, nil
}

// checkOverlaps looks for rows of one series whose periods overlap, such as a year and one of its
// months.
func (c *checker) checkOverlaps(s *sum, amount string) (*violation, error) {
	e := c.plan.Endpoint
	if amount == "" || c.adder.Overlaps == nil || !c.isGrouped(s.Question, contract.PeriodStart) && !e.AddsOverTime() {
		return nil, nil
	}
	by := slices.DeleteFunc(slices.Clone(s.groups), func(g aggregate.Group) bool { return g.Part != aggregate.Whole })
	found, where, _, err := c.search(s, by, false, c.adder.Overlaps.Meeting) // a year is of no month
	if err != nil || !c.isWrong(where) {
		return nil, err
	}
	text := say.Of("%s may count twice: more than %s rows pass whose periods overlap those of others.",
		amount, maxOverlaps)
	if found != nil {
		text = say.Of("%s counts twice: rows of one place pass whose periods overlap, such as %s and %s.", amount,
			c.adder.Overlaps.Period(found.A), c.adder.Overlaps.Period(found.B))
	}
	start, end := e.Names().Name(contract.PeriodStart), e.Names().Name(contract.PeriodEnd)
	return &violation{
		param: groupBy,
		text:  say.Join(text, say.Of("Group by %s and %s.", start, end)),
		fix:   func(query *contract.Question) { query.GroupBy(start, end) },
	}, nil
}
