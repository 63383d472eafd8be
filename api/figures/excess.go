package figures

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/index"
)

// A provider may publish a place twice among the units of one country: Bangui, and its eight
// districts, which have no codes. Nothing says so, but their sum is then more than the country's
// own figure.

// excessRatio is from where on a sum of units is more than their country's figure: providers round.
const excessRatio = 1.01

// maxExcessGroups is up to how many groups sums of units are compared.
const maxExcessGroups = 100_000

// excess returns a caveat for a sum of units that is more than the figure of a place that contains
// them, with the same period and in every other field. units selects the rows of the request.
func (c *checker) excess(r *contract.Request, units *index.Query) (string, error) {
	e := c.plan.Endpoint
	measure := slices.IndexFunc(r.Measures, func(m contract.Measure) bool { return m.Func == contract.Sum })
	level := slices.IndexFunc(units.Filters, func(f index.Filter) bool {
		isCountries := len(f.Values) == 0 && f.Value.Int == 0
		return slices.Contains(f.Columns, levelColumn) && !isCountries
	})
	if !e.Nests() || measure < 0 || level < 0 || r.Coarsest {
		return "", nil
	}
	figure := e.Fields[r.Measures[measure].Field].Column()
	all := index.Query{Filters: slices.Delete(slices.Clone(units.Filters), level, level+1), Coarsest: true}
	own, err := c.sums(&all, figure, e.Nested())
	if own == nil || err != nil {
		return "", err
	}
	some, err := c.sums(units, figure, e.Nested())
	if some == nil || err != nil {
		return "", err
	}
	wholes := map[string]placeSum{}
	for _, sum := range own {
		wholes[sum.key] = sum
	}
	worst, hint := 0.0, ""
	for _, sum := range some { // of several that are as far off, always the same
		whole, has := wholes[sum.key]
		if more := sum.number - whole.number; has && more > worst && sum.number > whole.number*excessRatio {
			worst = more
			hint = fmt.Sprintf(" The units of %s add up to %s, more than the %s of the place that contains them: some "+
				"units count what others count, or it leaves some of them out. %s=%s takes its own figure.",
				sum.country, sum.text, whole.text, levelColumn, contract.Coarsest)
		}
	}
	return hint, nil
}

// placeSum is a sum over places of one country.
type placeSum struct {
	key           string // the country, the period and the other fields
	country, text string
	number        float64
}

// sums adds up a figure by country, period and some other fields, in their order. It is nil if
// there are too many groups.
func (c *checker) sums(q *index.Query, figure string, by []string) (sums []placeSum, err error) {
	question := &aggregate.Question{
		Query: q, MaxGroups: maxExcessGroups, Pause: c.pause,
		Measures: []aggregate.Measure{{Func: aggregate.Sum, Column: figure}},
	}
	for _, column := range slices.Concat([]string{countryColumn, contract.PeriodStart, contract.PeriodEnd}, by) {
		question.Groups = append(question.Groups, aggregate.Group{Column: column})
	}
	found, err := c.adder.Table.Answer(question)
	if _, many := errors.AsType[*aggregate.TooManyGroups](err); many {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range found.Len() {
		key := ""
		for k := range question.Groups {
			key += groupKey(found.Group(i, k))
		}
		text := found.Measure(i, 0).String()
		number, err := strconv.ParseFloat(text, 64)
		if err != nil {
			continue // no row of the group has a number
		}
		sums = append(sums, placeSum{key: key, country: found.Group(i, 0).String(), text: text, number: number})
	}
	return sums, nil
}
