package figures

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdqs/aggregate"
	"hdqs/api/additivity"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/index"
)

// Sums and means are checked before they are made: against what the endpoint declares of its
// fields, and against the values that occur among the rows that pass the filters (package
// additivity).
//
// A field whose values overlap must be grouped by, or a filter of the field must leave one value.
// A single remaining value does not count unless a filter selects it, because the next load may add
// another. Only if the field has no filter of its own, or none that could select the value (an
// empty text), does it not matter how the value was left.

// violation is a reason why figures of a request would be wrong.
type violation struct {
	param string // that the error names
	text  string // what is wrong and what helps
	fix   func(d *queryEdit)
}

// checker checks requests of one endpoint, in the names of its answers.
type checker struct {
	list  *state.BoundList
	plan  *contract.Plan
	adder *state.Adder
	group bool // remedies group, and do not keep one value
}

// check finds what is wrong with the sums and means of a request.
func (c *checker) check(r *contract.Request) ([]violation, error) {
	e := c.plan.Endpoint
	var wrong []violation
	amount, average := "", ""
	for _, m := range r.Measures {
		if m.Func != contract.Sum && m.Func != contract.Mean {
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
	asked, by := c.questions(r, amount, average)
	counts, err := c.counts(r, by)
	if many, ok := errors.AsType[*aggregate.TooManyValues](err); ok {
		i := slices.IndexFunc(asked, func(q dimensionQuestion) bool { return q.Field == many.Column })
		q := &asked[i]
		return append(wrong, *c.grouping(q, "%s adds up rows of more than %d values of %s. Group by %[3]s, or filter.",
			q.measure, many.Max, q.field)), nil
	}
	if err != nil {
		return nil, err
	}
	for _, q := range asked {
		if w := c.judge(r, &q, counts); w != nil {
			wrong = append(wrong, *w)
		}
	}
	w, err := c.checkFlow(r, amount)
	if w != nil {
		wrong = append(wrong, *w)
	}
	return wrong, err
}

// notSummable is what is wrong with a measure of a number that is no amount.
func (c *checker) notSummable(m contract.Measure, figure *contract.Figure) violation {
	e := c.plan.Endpoint
	field, measure := e.Fields[m.Field].Name, e.MeasureName(m)
	instead := []string{"min:" + field, "max:" + field}
	switch {
	case figure.Allows(contract.Mean):
		instead = []string{"mean:" + field}
	case figure.Use == contract.Label:
		instead = []string{"distinct:" + field}
	}
	return violation{
		param: "measures",
		text: fmt.Sprintf("%s means nothing: %s is %s. Ask for %s.",
			measure, field, figure.Noun, strings.Join(instead, " and ")),
		fix: func(d *queryEdit) { d.replaceMeasure(measure, instead) },
	}
}

// dimensionQuestion asks whether the rows may be added up over a dimension.
type dimensionQuestion struct {
	*contract.Dimension
	field   string // its name in the request
	measure string // that adds
	at      int    // of its values in the counts
	parts   int    // of the years, quarters or months that are grouped by, -1 if none
}

// questions lists the dimensions that a request adds over, and the counts that tell their values.
func (c *checker) questions(r *contract.Request, amount, average string) ([]dimensionQuestion, []aggregate.Group) {
	e := c.plan.Endpoint
	var asked []dimensionQuestion
	var by []aggregate.Group
	for i := range e.Dimensions {
		d := &e.Dimensions[i]
		measure := amount
		switch d.Kind {
		case contract.Parts, contract.Flow:
			continue
		case contract.Alike:
			measure = average
		case contract.Levels:
			if amount == "" {
				measure = average
			}
		case contract.Stock:
			if r.Latest {
				continue
			}
		}
		if measure == "" || c.isGrouped(r, d, contract.Whole) {
			continue
		}
		q := dimensionQuestion{Dimension: d, field: e.Names().Name(d.Field), measure: measure, at: len(by), parts: -1}
		by = append(by, aggregate.Group{Column: d.Field})
		for _, part := range []contract.Part{contract.Month, contract.Quarter, contract.Year} {
			if d.Kind == contract.Stock && q.parts < 0 && c.isGrouped(r, d, part) {
				q.parts = len(by)
				by = append(by, aggregate.Group{Column: d.Field, Part: aggregateParts[part]})
			}
		}
		asked = append(asked, q)
	}
	return asked, by
}

func (c *checker) isGrouped(r *contract.Request, d *contract.Dimension, part contract.Part) bool {
	return slices.ContainsFunc(r.Groups, func(g contract.Group) bool {
		return g.Part == part && c.plan.Endpoint.Fields[g.Field].Column() == d.Field
	})
}

// judge returns what is wrong with adding over a dimension, nil if nothing is.
func (c *checker) judge(r *contract.Request, q *dimensionQuestion, counts []*aggregate.Result) *violation {
	values := valuesOf(counts[q.at])
	found, all := additivity.Check(q.Dimension, values), additivity.JoinWithAnd
	switch {
	case q.Kind == contract.Overlapping:
		return c.judgeOverlapping(r, q, values)
	case q.Kind == contract.Stock:
		if q.parts < 0 || counts[q.parts].Len() < len(values) {
			return c.judgeStock(r, q, values)
		}
	case found == nil:
	case q.Kind == contract.Levels:
		return c.grouping(q, "%s counts twice: rows of %s %s pass, and figures of one level usually contain "+
			"those of the next. Group by %[2]s, or keep one level.", q.measure, q.field, all(values))
	case q.Kind == contract.Alike:
		return c.grouping(q, "%s compares what cannot be compared: rows of %s %s pass. Group by %[2]s, or keep "+
			"one value.", q.measure, q.field, all(values))
	case found.Total != "":
		return c.mixes(r, q, values, found.Total+" contains "+all(found.Parts))
	default:
		return c.mixes(r, q, values, found.Ranges[0]+" overlaps "+found.Ranges[1])
	}
	return nil
}

// grouping is a wrong sum that is applyFixes by another field to group by.
func (c *checker) grouping(q *dimensionQuestion, format string, args ...any) *violation {
	return &violation{
		param: c.paramOf(q.Dimension),
		text:  fmt.Sprintf(format, args...),
		fix:   func(d *queryEdit) { d.group(q.field) },
	}
}

// keeping is a wrong sum that is applyFixes by a filter, unless remedies are to group.
func (c *checker) keeping(q *dimensionQuestion, value, format string, args ...any) *violation {
	w := c.grouping(q, format, args...)
	w.text += fmt.Sprintf(" Send %s=%s, or group by %[1]s.", q.field, value)
	if !c.group {
		w.fix = func(d *queryEdit) { c.keep(d, q.field, value) }
	}
	return w
}

// keeps reports whether a filter can keep the rows that are not broken down.
func (c *checker) keeps(r *contract.Request, q *dimensionQuestion, values []string) bool {
	return q.Keep != "" && !c.group && slices.Contains(values, q.Keep) && c.covers(r, q.field, q.Keep)
}

// mixes is a wrong sum over values that contain others, or overlap, as said.
func (c *checker) mixes(r *contract.Request, q *dimensionQuestion, values []string, said string) *violation {
	const format = "%s counts twice: rows of several values of %s pass, of which %s."
	if c.keeps(r, q, values) {
		return c.keeping(q, q.Keep, format, q.measure, q.field, said)
	}
	return c.grouping(q, format+" Group by %[2]s, or keep values that do not contain one another.",
		q.measure, q.field, said)
}

// judgeOverlapping looks for several values, or for one that no filter selects.
func (c *checker) judgeOverlapping(r *contract.Request, q *dimensionQuestion, values []string) *violation {
	const format = "%s counts the same people several times: rows of %s %s pass."
	free := !c.hasFilter(q.Dimension) || c.isFiltered(r, q.Dimension)
	switch {
	case len(values) == 0, len(values) == 1 && (free || values[0] == ""):
		return nil
	case len(values) == 1:
		return c.keeping(q, values[0], "%s adds up rows of %s %s only, but no filter says so, and the next data may "+
			"have others.", q.measure, q.field, values[0])
	case c.keeps(r, q, values):
		return c.keeping(q, q.Keep, format, q.measure, q.field, additivity.JoinWithAnd(values))
	}
	return c.grouping(q, format+" Group by %[2]s, or keep one value with a filter.",
		q.measure, q.field, additivity.JoinWithAnd(values))
}

// judgeStock looks for figures of several times, each of which counts everybody.
func (c *checker) judgeStock(r *contract.Request, q *dimensionQuestion, values []string) *violation {
	const (
		many   = "%s counts the same people several times: rows of periods that start at %s pass"
		advice = "Send latest=true, keep one period with start_date and end_date, or group by %s."
	)
	w := violation{param: contract.LatestParam, fix: func(d *queryEdit) { d.set(contract.LatestParam, "true") }}
	switch {
	case len(values) == 0, len(values) == 1 && c.isFiltered(r, q.Dimension):
		return nil
	case len(values) == 1:
		w.text = fmt.Sprintf("%s adds up rows of one period only, from %s, but no filter says so, and the next data "+
			"may have others. "+advice, q.measure, values[0], q.field)
	case q.parts >= 0:
		w.text = fmt.Sprintf(many+", several of them in one group, and each counts everybody anew. Group by %s "+
			"instead.", q.measure, additivity.JoinWithAnd(values), q.field)
		w.param = "group_by"
		w.fix = func(d *queryEdit) { d.groupByStart(q.field) }
	default:
		w.text = fmt.Sprintf(many+", and each counts everybody anew. "+advice,
			q.measure, additivity.JoinWithAnd(values), q.field)
	}
	return &w
}

// checkFlow looks for rows of one series whose periods overlap, such as a year and one of its
// months.
func (c *checker) checkFlow(r *contract.Request, amount string) (*violation, error) {
	e := c.plan.Endpoint
	if amount == "" || c.adder.Overlaps == nil || c.isGrouped(r, e.Dimension(contract.PeriodStart), contract.Whole) {
		return nil, nil
	}
	var q index.Query
	c.list.FillQuery(&q, r, nil)
	found, err := c.adder.Overlaps.First(&q)
	many := errors.Is(err, index.ErrManyOverlaps)
	if err != nil && !many || err == nil && found == nil {
		return nil, err
	}
	said := fmt.Sprintf("%s may count twice: more than %d rows pass whose periods overlap those of others.",
		amount, index.MaxOverlaps)
	if found != nil {
		said = fmt.Sprintf("%s counts twice: rows of one place pass whose periods overlap, such as %s and %s.", amount,
			c.adder.Overlaps.Period(found.A), c.adder.Overlaps.Period(found.B))
	}
	start, end := e.Names().Name(contract.PeriodStart), e.Names().Name(contract.PeriodEnd)
	return &violation{
		param: "group_by",
		text:  fmt.Sprintf("%s Group by %s and %s.", said, start, end),
		fix: func(d *queryEdit) {
			d.groupByStart(start)
			d.group(end)
		},
	}, nil
}

// hint returns a caveat for sums that are correct but easy to misread: the newest rows of several
// places may be of different periods, and those of a place that is not counted any more stay.
func (c *checker) hint(r *contract.Request) (string, error) {
	e := c.plan.Endpoint
	for i := range e.Dimensions {
		d := &e.Dimensions[i]
		if d.Kind != contract.Stock || !r.Latest || !c.adds(r) || c.isGrouped(r, d, contract.Whole) {
			continue
		}
		counts, err := c.counts(r, []aggregate.Group{{Column: d.Field}})
		if err != nil || counts[0].Len() < 2 {
			return "", err
		}
		values := valuesOf(counts[0])
		return fmt.Sprintf("The newest rows are of %d periods, which start from %s to %s; group by %s to tell them "+
			"apart.", len(values), values[0], values[len(values)-1], e.Names().Name(d.Field)), nil
	}
	return "", nil
}

// adds reports whether a request asks for a sum or mean.
func (c *checker) adds(r *contract.Request) bool {
	return slices.ContainsFunc(r.Measures, func(m contract.Measure) bool {
		return m.Func == contract.Sum || m.Func == contract.Mean
	})
}

// paramOf is the parameter that an error about a dimension names: its filter, or group_by.
func (c *checker) paramOf(d *contract.Dimension) string {
	name := c.plan.Endpoint.Names().Name(d.Field)
	if slices.ContainsFunc(c.plan.Params, func(p contract.Param) bool { return p.Name == name }) {
		return name
	}
	return "group_by"
}

// ownFilter reports whether a parameter filters by a dimension.
func ownFilter(p *contract.Param, d *contract.Dimension) bool {
	return slices.ContainsFunc(p.Columns, func(column string) bool {
		return column == d.Field || slices.Contains(d.Also, column)
	})
}

func (c *checker) hasFilter(d *contract.Dimension) bool {
	return slices.ContainsFunc(c.plan.Params, func(p contract.Param) bool { return ownFilter(&p, d) })
}

func (c *checker) isFiltered(r *contract.Request, d *contract.Dimension) bool {
	return slices.ContainsFunc(r.Filters, func(f contract.Filter) bool {
		return ownFilter(&c.plan.Params[f.Param], d)
	})
}

// counts counts the rows that pass a request's filters by each of some fields.
func (c *checker) counts(r *contract.Request, by []aggregate.Group) ([]*aggregate.Result, error) {
	var q index.Query
	c.list.FillQuery(&q, r, nil)
	return c.adder.Table.Count(&q, by...)
}

// valuesOf are the values that occur, as texts of a query.
func valuesOf(counts *aggregate.Result) []string {
	values := make([]string, counts.Len())
	for i := range values {
		switch v := counts.Group(i, 0); v.Kind {
		case aggregate.Null:
			values[i] = "null"
		case aggregate.Time:
			values[i] = time.UnixMicro(v.Int).UTC().Format(time.DateOnly)
		case aggregate.Bool:
			values[i] = strconv.FormatInt(v.Int, 10)
		default:
			values[i] = v.String()
		}
	}
	return values
}
