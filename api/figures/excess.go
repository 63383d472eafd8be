package figures

import (
	"errors"
	"slices"
	"strconv"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/say"
	"hdqs/index"
)

// A provider may publish a place twice among the units of one country: Bangui, and its eight
// districts, which have no codes. Nothing says so, but their sum is then more than the country's
// own figure.

// excessRatio is from where on a sum of units is more than their country's figure: providers round.
const excessRatio = 1.01

// excess returns a caveat for a sum of units that is more than the figure of a place that contains
// them, with the same period and in every other field. units selects the rows of the request.
func (c *checker) excess(r *contract.Question, units *index.Query) (hint say.Text, err error) {
	e := c.plan.Endpoint
	measure := slices.IndexFunc(r.Measures, func(m contract.Measure) bool { return m.Func == aggregate.Sum })
	level := slices.IndexFunc(units.Filters, func(f index.Filter) bool {
		isCountries := len(f.Values) == 0 && f.Value.Int == 0
		return slices.Contains(f.Columns, levelColumn) && !isCountries
	})
	if !e.Nests() || measure < 0 || level < 0 || r.Coarsest {
		return hint, nil
	}
	figure := e.Fields[r.Measures[measure].Field].Column()
	all := index.Query{Filters: slices.Delete(slices.Clone(units.Filters), level, level+1), Coarsest: true}
	by := slices.Concat([]string{countryColumn, contract.PeriodStart, contract.PeriodEnd}, e.Nested())
	own, err := c.sums(&all, figure, by)
	if own == nil || err != nil {
		return hint, err
	}
	some, err := c.sums(units, figure, by)
	if some == nil || err != nil {
		return hint, err
	}
	wholes := map[string]string{}
	for i := range own.Len() {
		wholes[groupKey(own, i, len(by))] = own.Measure(i, 0).String()
	}
	worst := 0.0
	for i := range some.Len() { // of several that are as far off, always the same
		text, whole := some.Measure(i, 0).String(), wholes[groupKey(some, i, len(by))]
		sum, err := strconv.ParseFloat(text, 64)
		most, missing := strconv.ParseFloat(whole, 64) // of rows without numbers there is no sum
		if more := sum - most; err == nil && missing == nil && more > worst && sum > most*excessRatio {
			worst = more
			hint = say.Of("The units of %s add up to %s, more than the %s of the place that contains them: some "+
				"units count what others count, or it leaves some of them out. %s=%s takes its own figure.",
				some.Group(i, 0), text, whole, levelColumn, contract.Coarsest)
		}
	}
	return hint, nil
}

// sums adds up a figure by some columns. It returns nil if there are too many groups.
func (c *checker) sums(q *index.Query, figure string, by []string) (*aggregate.Result, error) {
	question := &aggregate.Question{
		Query: q, Pause: c.pause, Measures: []aggregate.Measure{{Func: aggregate.Sum, Column: figure}},
	}
	for _, column := range by {
		question.Groups = append(question.Groups, aggregate.Group{Column: column})
	}
	found, err := c.adder.Table.Answer(question)
	if _, many := errors.AsType[*aggregate.TooManyGroups](err); many {
		return nil, nil
	}
	return found, err
}
