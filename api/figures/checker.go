package figures

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/say"
	"hdqs/api/state"
	"hdqs/index"
)

// countryColumn is the country of a record, and the name of its field in both sets.
const countryColumn = contract.CountryParam

// Parameters that errors name.
const (
	groupBy       = "group_by"
	measuresParam = "measures"
)

// violation is a reason why figures of a request would be wrong.
type violation struct {
	param string   // that the error names
	text  say.Text // what is wrong and what helps
	fix   func(query *contract.Question)
}

// checker checks requests of one endpoint, in the names of its answers.
type checker struct {
	list  *state.BoundList
	plan  *contract.Plan
	adder *state.Adder
	group bool   // remedies group, and do not keep one value
	pause func() // of long computations; nil without turns

	// The rows of each value of this column are judged for themselves, as if the others did not
	// pass; empty to judge all rows together.
	apart string
	odd   parts // with apart: the values of which the rows are wrong

	nests bool // places of some groups contain those of others
}

// parts is a set of values of the column by which rows are judged apart. Where all rows are judged
// together, the empty value is for all of them.
type parts map[string]bool

func (p parts) add(more parts) { maps.Copy(p, more) }

func (c *checker) isGrouped(r *contract.Question, column string) bool {
	return slices.ContainsFunc(r.Groups, func(g contract.Group) bool {
		return g.IsWhole() && c.plan.Endpoint.Fields[g.Field].Column() == column
	})
}

// paramOf is the parameter that an error about a dimension names: its filter, or group_by.
func paramOf(plan *contract.Plan, d *contract.Dimension) string {
	name := plan.Endpoint.Names().Name(d.Field)
	if slices.ContainsFunc(plan.Params, func(p contract.Param) bool { return p.Name == name }) {
		return name
	}
	return groupBy
}

// query selects the rows that pass a request's filters.
func (c *checker) query(r *contract.Question) *index.Query {
	q := new(index.Query)
	c.list.FillQuery(q, r)
	return q
}

// counts counts the rows that pass a request's filters by each of some fields.
func (c *checker) counts(r *contract.Question, by ...aggregate.Group) ([]*aggregate.Result, error) {
	return c.adder.Table.Count(c.query(r), by...)
}

// valuesOf are the values that occur, as texts of a query.
func valuesOf(counts *aggregate.Result) []string {
	values := make([]string, counts.Len())
	for i := range values {
		values[i] = textOfValue(counts.Group(i, 0))
	}
	return values
}

// textOfValue is a value as a query has it.
func textOfValue(v aggregate.Value) string {
	switch v.Kind {
	case aggregate.Null:
		return "null"
	case aggregate.Time:
		return time.UnixMicro(v.Int).UTC().Format(time.DateOnly)
	case aggregate.Bool:
		return strconv.FormatInt(v.Int, 10)
	}
	return v.String()
}

// covers reports whether the rows that pass an edited question are in as many countries as all
// rows, so that the edit leaves none out.
func (c *checker) covers(q *contract.Question, edit func(*contract.Question)) bool {
	var by []aggregate.Group
	for i := range c.plan.Endpoint.Dimensions {
		if d := &c.plan.Endpoint.Dimensions[i]; strings.HasSuffix(d.Field, "location_code") {
			by = append(by, aggregate.Group{Column: d.Field})
		}
	}
	kept := q.Copy()
	edit(kept)
	all, err := c.counts(q, by...)
	if err != nil {
		return false
	}
	some, err := c.counts(kept, by...)
	return err == nil && slices.EqualFunc(all, some, func(a, b *aggregate.Result) bool { return a.Len() == b.Len() })
}

// leaves reports whether rows pass an edited question.
func (c *checker) leaves(q *contract.Question, edit func(*contract.Question)) bool {
	kept := q.Copy()
	edit(kept)
	rows, err := c.counts(kept, aggregate.Group{Column: contract.PeriodStart})
	return err == nil && rows[0].Len() > 0
}

// keep leaves one value of a field.
func keep(q *contract.Question, field, value string) {
	q.Keep(field, q.Plan().Param(field).Exactly(value))
}

// isOverTime reports whether a request groups by time. Its remedies keep all times.
func isOverTime(q *contract.Question) bool {
	return slices.ContainsFunc(q.Groups, func(g contract.Group) bool {
		column := q.Endpoint().Fields[g.Field].Column()
		return g.Part != aggregate.Whole || column == contract.PeriodStart || column == contract.PeriodEnd
	})
}

// replaceMeasure replaces a measure by others that are not asked for yet.
func replaceMeasure(q *contract.Question, measure contract.Measure, instead []contract.Measure) {
	at := slices.Index(q.Measures, measure)
	more := slices.DeleteFunc(instead, func(m contract.Measure) bool { return slices.Contains(q.Measures, m) })
	q.Measures = slices.Replace(q.Measures, at, at+1, more...)
}

func setEdition(query *contract.Question)   { query.Edition, query.Latest = true, false }
func setEverybody(query *contract.Question) { query.Everybody = true }
