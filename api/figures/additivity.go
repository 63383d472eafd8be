package figures

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"hdqs/aggregate"
	"hdqs/api/additivity"
	"hdqs/api/contract"
	"hdqs/api/say"
	"hdqs/index"
)

// Sums and means are checked before they are made: against what the endpoint declares of its
// fields, and against the values that occur among the rows that pass the filters (package
// additivity), after latest and admin_level=coarsest.
//
// A field whose values overlap must have one value in each group, whether a filter leaves it, or
// latest, or nothing else occurs.

// check finds what is wrong with the sums and means of a request.
func (c *checker) check(r *contract.Question) ([]violation, error) {
	e := c.plan.Endpoint
	var wrong []violation
	amount, average := "", ""
	for _, m := range r.Measures {
		if m.Func != aggregate.Sum && m.Func != aggregate.Mean {
			continue
		}
		figure := e.Figure(e.Fields[m.Field].Column())
		switch {
		case !figure.Allows(m.Func):
			wrong = append(wrong, c.notSummable(m, figure))
		case figure.Use == contract.Added:
			amount = e.MeasureName(m)
		default:
			average = e.MeasureName(m)
		}
	}
	if amount == "" && average == "" {
		return wrong, nil
	}
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
	if err != nil {
		return nil, err
	}
	measure := cmp.Or(amount, average)
	onePeriod := sync.OnceValues(func() (bool, error) {
		return c.oneInEach(r, c.groupsOf(r), contract.PeriodStart, contract.PeriodEnd)
	})
	add := func(w *violation, failed error) {
		if w != nil {
			wrong = append(wrong, *w)
		}
		err = cmp.Or(err, failed)
	}
	add(c.checkLowerPlace(r, measure))
	add(c.checkNested(r, measure, onePeriod))
	for i := range asked {
		add(c.judge(r, &asked[i], valuesOf(counts[i]), onePeriod))
	}
	add(c.checkOverlaps(r, amount))
	return wrong, err
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

// judge returns what is wrong with adding over a dimension, nil if nothing is. onePeriod reports
// whether the rows of each group have one period.
func (c *checker) judge(
	r *contract.Question, q *dimensionQuestion, values []string, onePeriod func() (bool, error),
) (*violation, error) {
	found := additivity.Check(q.Dimension, values)
	switch {
	case q.Kind == contract.Overlapping:
		return c.judgeOverlapping(r, q, values)
	case q.Kind == contract.Stock || q.Kind == contract.Yearly:
		return c.judgePeriods(r, q, values, onePeriod)
	case found == nil:
		return nil, nil
	case q.Kind == contract.Alike:
		return c.grouping(q, say.Join(
			say.Of("%s compares what cannot be compared: rows of %s %s pass.", q.measure, q.field, say.And(values)),
			say.Of("Group by %s, or keep one value.", q.field))), nil
	case found.Total != "":
		return c.mixes(r, q, values, say.Of("%s contains %s", found.Total, say.And(found.Parts))), nil
	default:
		return c.mixes(r, q, values, say.Of("%s overlaps %s", found.Ranges[0], found.Ranges[1])), nil
	}
}

// oneInEach reports whether the rows of each group have one value in each of some columns.
func (c *checker) oneInEach(r *contract.Question, groups []aggregate.Group, columns ...string) (bool, error) {
	question := &aggregate.Question{Query: c.query(r), Groups: groups, Pause: c.pause}
	for _, column := range columns {
		question.Measures = append(question.Measures, aggregate.Measure{Func: aggregate.Distinct, Column: column})
	}
	found, err := c.adder.Table.Answer(question)
	if _, many := errors.AsType[*contract.Invalid](tooMany(err)); many {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for group := range found.Len() {
		for i := range columns {
			if found.Measure(group, i).Int > 1 {
				return false, nil
			}
		}
	}
	return true, nil
}

// groupsOf are the groups of a request.
func (c *checker) groupsOf(r *contract.Question) []aggregate.Group {
	return questionOf(r, c.plan.Endpoint, nil).Groups
}

// grouping is a wrong sum that grouping by another field mends.
func (c *checker) grouping(q *dimensionQuestion, text say.Text) *violation {
	return &violation{
		param: c.paramOf(q.Dimension),
		text:  text,
		fix:   func(query *contract.Question) { query.GroupBy(q.field) },
	}
}

// keeping is a wrong sum that a filter mends, unless remedies are to group.
func (c *checker) keeping(q *dimensionQuestion, value string, text say.Text) *violation {
	w := c.grouping(q, say.Join(text, say.Of("Send %s, or group by %s.", q.field+"="+value, q.field)))
	if !c.group {
		w.fix = func(query *contract.Question) { c.keep(query, q.field, value) }
	}
	return w
}

// keeps reports whether a filter can keep the rows that are not broken down.
func (c *checker) keeps(r *contract.Question, q *dimensionQuestion, values []string) bool {
	return q.Keep != "" && !c.group && slices.Contains(values, q.Keep) &&
		c.covers(r, func(query *contract.Question) { c.keep(query, q.field, q.Keep) })
}

// mixes is a wrong sum over values that contain others, or overlap, as said.
func (c *checker) mixes(r *contract.Question, q *dimensionQuestion, values []string, why say.Text) *violation {
	text := say.Of("%s counts twice: rows of several values of %s pass, of which %s.", q.measure, q.field, why)
	if c.keeps(r, q, values) {
		return c.keeping(q, q.Keep, text)
	}
	return c.grouping(q, say.Join(text,
		say.Of("Group by %s, or keep values that do not contain one another.", q.field)))
}

// judgeOverlapping looks for several values in a group.
func (c *checker) judgeOverlapping(r *contract.Question, q *dimensionQuestion, values []string) (*violation, error) {
	if len(values) < 2 {
		return nil, nil
	}
	groups := c.groupsOf(r)
	isEverybody := r.Everybody && q.Everybody != nil
	if isEverybody { // one value, unless a place has rows of several
		groups = c.withPlaces(groups, q)
	}
	if one, err := c.oneInEach(r, groups, q.Field); one || err != nil {
		return nil, err
	}
	text := say.Of("%s counts the same people several times: rows of %s %s pass.", q.measure, q.field, say.And(values))
	sending := func(sent string, fix func(*contract.Question)) *violation {
		w := c.grouping(q, say.Join(text, say.Of("Send %s, or group by %s.", sent, q.field)))
		w.fix = fix
		return w
	}
	isRound := slices.Contains(c.plan.Endpoint.Rounds, q.Field)
	switch {
	case isRound && !r.Edition && !c.group:
		return sending("latest=edition", setEdition), nil
	case q.Everybody != nil && !isEverybody && !c.group && c.covers(r, setEverybody):
		return sending("everybody=true", setEverybody), nil
	case c.keeps(r, q, values):
		return c.keeping(q, q.Keep, text), nil
	}
	return c.grouping(q, say.Join(text, say.Of("Group by %s, or keep one value with a filter.", q.field))), nil
}

// withPlaces adds the other dimensions to groups, without the period.
func (c *checker) withPlaces(groups []aggregate.Group, q *dimensionQuestion) []aggregate.Group {
	e := c.plan.Endpoint
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
func (c *checker) judgePeriods(
	r *contract.Question, q *dimensionQuestion, values []string, onePeriod func() (bool, error),
) (*violation, error) {
	one, err := onePeriod()
	if !one && err == nil && r.Latest && c.plan.Endpoint.Units() != nil {
		one, err = c.oneInEach(r, []aggregate.Group{{Column: countryColumn}, {Column: levelColumn}},
			contract.PeriodStart, contract.PeriodEnd)
	}
	if one || err != nil {
		return nil, err
	}
	why := say.Of("and each counts everybody anew")
	if q.Kind == contract.Yearly {
		why = say.Of("and each is of people who may be counted again the year after")
	}
	text := func(format string) say.Text { return say.Of(format, q.measure, say.And(values), why) }
	format := "%s counts the same people several times: rows of periods that start at %s pass, %s."
	isPart := slices.ContainsFunc(r.Groups, func(g contract.Group) bool { return g.Part != aggregate.Whole })
	switch {
	case isPart:
		return &violation{
			param: groupBy,
			text: say.Join(text("%s counts the same people several times: rows of periods that start at %s pass, "+
				"several of them in one group, %s."), say.Of("Group by %s instead.", q.field)),
			fix: func(query *contract.Question) { groupByStart(query, q.field) },
		}, nil
	case r.Latest:
		format = "%s counts the same people several times: rows of periods that start at %s pass, since the " +
			"newest rows of some places are older than those of others, %s."
	}
	return &violation{
		param: contract.LatestParam,
		text: say.Join(text(format),
			say.Of("Send latest=edition, keep one period with start_date and end_date, or group by %s.", q.field)),
		fix: func(query *contract.Question) {
			if setEdition(query); c.group {
				groupByStart(query, q.field)
			}
		},
	}, nil
}

// checkOverlaps looks for rows of one series whose periods overlap, such as a year and one of its
// months.
func (c *checker) checkOverlaps(r *contract.Question, amount string) (*violation, error) {
	e := c.plan.Endpoint
	byStart := c.isGrouped(r, contract.PeriodStart)
	if amount == "" || c.adder.Overlaps == nil || !byStart && !e.AddsOverTime() {
		return nil, nil
	}
	if byStart {
		if one, err := c.oneInEach(r, c.groupsOf(r), contract.PeriodEnd); one || err != nil {
			return nil, err
		}
	}
	found, err := c.adder.Overlaps.First(c.query(r))
	many := errors.Is(err, index.ErrManyOverlaps)
	if err != nil && !many || err == nil && found == nil {
		return nil, err
	}
	text := say.Of("%s may count twice: more than %s rows pass whose periods overlap those of others.",
		amount, index.MaxOverlaps)
	if found != nil {
		text = say.Of("%s counts twice: rows of one place pass whose periods overlap, such as %s and %s.", amount,
			c.adder.Overlaps.Period(found.A), c.adder.Overlaps.Period(found.B))
	}
	start, end := e.Names().Name(contract.PeriodStart), e.Names().Name(contract.PeriodEnd)
	return &violation{
		param: groupBy,
		text:  say.Join(text, say.Of("Group by %s and %s.", start, end)),
		fix: func(query *contract.Question) {
			groupByStart(query, start)
			query.GroupBy(end)
		},
	}, nil
}

// hint returns a caveat for sums that are correct but easy to misread: the newest rows of several
// places may be of different periods.
func (c *checker) hint(r *contract.Question) (hint say.Text, err error) {
	e := c.plan.Endpoint
	for i := range e.Dimensions {
		d := &e.Dimensions[i]
		if d.Kind != contract.Stock || !r.Latest && !r.Edition || !c.adds(r) || c.isGrouped(r, d.Field) {
			continue
		}
		counts, err := c.counts(r, aggregate.Group{Column: d.Field})
		if err != nil || counts[0].Len() < 2 {
			return hint, err
		}
		values := valuesOf(counts[0])
		return say.Of("The newest rows are of %s periods, which start from %s to %s; group by %s to tell them "+
			"apart.", len(values), values[0], values[len(values)-1], e.Names().Name(d.Field)), nil
	}
	return hint, nil
}

// adds reports whether a request asks for a sum or mean.
func (c *checker) adds(r *contract.Question) bool {
	return slices.ContainsFunc(r.Measures, func(m contract.Measure) bool {
		return m.Func == aggregate.Sum || m.Func == aggregate.Mean
	})
}
