package figures

import (
	"errors"
	"slices"
	"strings"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/say"
	"hdqs/api/state"
	"hdqs/index"
)

// Coverage: a sum over the units of a country is the figure of the country only if all units have
// rows. No file says that it is whole, so nothing is refused for it. Answers show how many units of
// the lowest level that a country has rows of have one, and how many there are.

// units are how many units have rows, and how many there are.
type units say.Coverage

// value is one of the two, null if neither is known.
func (u units) value(known bool) aggregate.Value {
	switch {
	case u.All == 0:
		return aggregate.Value{}
	case known:
		return aggregate.Value{Kind: aggregate.Int, Int: int64(u.All)}
	}
	return aggregate.Value{Kind: aggregate.Int, Int: int64(u.Have)}
}

// covered is the coverage of the groups of an answer.
type covered struct {
	of    []units // by group
	least units   // the smallest ratio of all groups
	shown bool    // to who does not ask for coverage
}

// coverageSeed is what entity tags of aggregates depend on besides the list: which units there are.
func coverageSeed(dst []byte, e *contract.Endpoint, b *state.Bound) []byte {
	if e.UnitLevels() == 0 {
		return dst
	}
	for _, path := range unitLists {
		dst = append(dst, b.Lists[path].Version...)
	}
	return append(dst, '\n')
}

// unitLists are the paths of the lists of units, by level less 1.
var unitLists = [...]string{"/api/v2/metadata/admin1", "/api/v2/metadata/admin2"}

// coverageOf counts the units that have rows, for requests that ask for it or that add up amounts
// of units. Units that are grouped by do not count as groups here: each would cover only itself.
func coverageOf(
	s *list.Lists, a *list.Reply, found *aggregates, table *aggregate.Table, pause func(),
) (*covered, error) {
	r := &a.Request.Question
	has := func(f aggregate.Func) bool {
		return slices.ContainsFunc(r.Measures, func(m contract.Measure) bool { return m.Func == f })
	}
	levels, asked := a.Endpoint.UnitLevels(), has(contract.Coverage)
	if levels == 0 || !asked && !has(aggregate.Sum) {
		return nil, nil
	}
	known, err := knownUnits(s, a.Served)
	if err != nil {
		return nil, err
	}
	var kept []int // groups that are no units
	var groups []aggregate.Group
	for i, g := range questionOf(r, a.Endpoint, nil).Groups {
		if levelOfField(g.Column) == 0 {
			kept, groups = append(kept, i), append(groups, g)
		}
	}
	// Of more groups the coverage is shown only to those who ask for it, who then get the error.
	counter := unitCounter{table: table, query: a.Query, pause: pause, levels: levels}
	byKey, err := counter.count(groups, known)
	if _, many := errors.AsType[*aggregate.TooManyGroups](err); many && !asked {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c := &covered{shown: has(aggregate.Sum)}
	for i := range found.total {
		var key []byte
		for _, k := range kept {
			key = appendKey(key, found.result.Group(i, k))
		}
		u := byKey[string(key)]
		c.of = append(c.of, u)
		if u.All > 0 && (c.least.All == 0 || u.Have*c.least.All < c.least.Have*u.All) {
			c.least = u
		}
	}
	return c, nil
}

// unitCounter counts the units that have rows.
type unitCounter struct {
	table  *aggregate.Table
	query  index.Query
	pause  func()
	levels int // that the list has codes of; rows of lower ones count for nothing
}

// count counts the units by the values of some groups. A group for each unit would be almost one
// for each row, so it counts the different codes. Rows that are in no unit have codes too: in the
// countries that have such rows, it takes these off.
func (c *unitCounter) count(groups []aggregate.Group, known map[string][2]int) (map[string]units, error) {
	var noUnits map[string]int
	countries, err := c.withoutUnits()
	if err == nil && len(countries) > 0 {
		odd := *c // a country's newest and coarsest rows do not depend on other countries
		odd.query.Filters = append(slices.Clip(odd.query.Filters),
			index.Filter{Columns: []string{countryColumn}, Op: index.Equal, Values: countries})
		noUnits, err = odd.noUnits(groups)
	}
	if err != nil {
		return nil, err
	}
	q := c.question(groups)
	for level := 1; level <= c.levels; level++ {
		codes := aggregate.Measure{Func: aggregate.Distinct, Column: contract.UnitColumns[level]}
		q.Measures = append(q.Measures, codes)
	}
	rows, err := c.table.Answer(q)
	if err != nil {
		return nil, err
	}
	byKey, country := map[string]units{}, len(groups)
	for i := range rows.Len() {
		level := int(rows.Group(i, country+1).Int)
		// Of a country only the lowest level counts, which is last.
		if !c.hasUnits(level) || i+1 < rows.Len() && startAlike(rows, i, country+1) {
			continue
		}
		key := groupKey(rows, i, country)
		u := byKey[key]
		u.Have += int(rows.Measure(i, level-1).Int) - noUnits[groupKey(rows, i, country+2)]
		u.All += known[rows.Group(i, country).Text][level-1]
		byKey[key] = u
	}
	return byKey, nil
}

// withoutUnits are the countries with rows that are in no unit of their level, the newest ones or
// others. Most requests are of countries without, and to group by all units takes longer than they.
func (c *unitCounter) withoutUnits() (countries []index.Value, err error) {
	unknown := &index.Test{Key: "placeholder", Text: contract.IsPlaceholder}
	for level := 1; level <= c.levels && err == nil; level++ {
		of := *c
		of.query = index.Query{Filters: append(slices.Clip(c.query.Filters),
			index.Filter{Columns: []string{levelColumn}, Op: index.Equal, Value: index.Value{Int: int64(level)}},
			index.Filter{Columns: []string{contract.UnitColumns[level]}, Op: index.Tested, Test: unknown})}
		var rows *aggregate.Result
		rows, err = c.table.Answer(of.question(nil))
		for i := 0; err == nil && i < rows.Len(); i++ {
			countries = append(countries, index.Value{Text: rows.Group(i, 0).Text})
		}
	}
	return countries, err
}

// noUnits counts the codes of rows that are in no unit, by some groups, the country and the level.
func (c *unitCounter) noUnits(groups []aggregate.Group) (n map[string]int, err error) {
	q, country := c.question(groups), len(groups)
	for level := 1; level <= c.levels; level++ {
		q.Groups = append(q.Groups, aggregate.Group{Column: contract.UnitColumns[level]})
	}
	rows, err := c.table.Answer(q)
	if err != nil {
		return nil, err
	}
	n = map[string]int{}
	for i := range rows.Len() {
		level := int(rows.Group(i, country+1).Int)
		if c.hasUnits(level) && contract.IsPlaceholder(rows.Group(i, country+1+level).Text) {
			n[groupKey(rows, i, country+2)]++
		}
	}
	return n, nil
}

// hasUnits reports whether rows of a level are of units. A list can have rows of a level of which
// it has no column.
func (c *unitCounter) hasUnits(level int) bool { return level > 0 && level <= c.levels }

// question asks for groups, with the country and level after them.
func (c *unitCounter) question(groups []aggregate.Group) *aggregate.Question {
	place := []aggregate.Group{{Column: countryColumn}, {Column: levelColumn}}
	return &aggregate.Question{
		Query: &c.query, MaxGroups: maxGroups, Pause: c.pause, Groups: slices.Concat(groups, place),
	}
}

type unitsKey struct{}

// knownUnits are how many units of levels 1 and 2 the countries of a snapshot have.
func knownUnits(s *list.Lists, v *state.Served) (map[string][2]int, error) {
	return list.MadeOf(v, unitsKey{}, func() (map[string][2]int, error) {
		all := map[string][2]int{}
		for level, path := range unitLists {
			rows, err := askList(s, v, aggregateOf(path).GroupBy(countryColumn))
			if err != nil {
				return nil, err
			}
			for i := range rows.len() {
				code := strings.Clone(rows.at(i, 0).Text)
				n := all[code]
				n[level] = int(rows.at(i, 1).Int)
				all[code] = n
			}
		}
		return all, nil
	})
}
