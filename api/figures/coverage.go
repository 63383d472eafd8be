package figures

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/index"
)

// Coverage: a sum over the units of a country is the figure of the country only if all units have
// rows. No file says that it is whole, so nothing is refused for it. Answers show how many units of
// the lowest level that a country has rows of have one, and how many there are.

// units are how many units have rows, and how many there are.
type units struct{ some, known int }

// value is one of the two, null if neither is known.
func (u units) value(known bool) aggregate.Value {
	switch {
	case u.known == 0:
		return aggregate.Value{}
	case known:
		return aggregate.Value{Kind: aggregate.Int, Int: int64(u.known)}
	}
	return aggregate.Value{Kind: aggregate.Int, Int: int64(u.some)}
}

// covered is the coverage of the groups of an answer.
type covered struct {
	of    []units // by group
	least units   // the smallest ratio
	shown bool    // in the header
}

// header is the smallest ratio of all groups.
func (c *covered) header() []reply.HeaderField {
	if c == nil || !c.shown || c.least.known == 0 {
		return nil
	}
	value := fmt.Sprintf("units=%d/%d", c.least.some, c.least.known)
	return []reply.HeaderField{{Name: contract.HeaderCoverage, Value: value}}
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

// maxCoverage is the most groups of a unit and what is grouped by. Beyond it the coverage is shown
// only to those who ask for it, who then get the error.
const maxCoverage = 500_000

// coverageOf counts the units that have rows, for requests that ask for it or that add up amounts
// of units. Units that are grouped by do not count as groups here: each would cover only itself.
func coverageOf(
	s *list.Lists, a *list.Reply, found *aggregates, table *aggregate.Table, pause func(),
) (*covered, error) {
	r := &a.Request
	has := func(f contract.Func) bool {
		return slices.ContainsFunc(r.Measures, func(m contract.Measure) bool { return m.Func == f })
	}
	levels, asked := a.Endpoint.UnitLevels(), has(contract.Coverage)
	if levels == 0 || !asked && !has(contract.Sum) {
		return nil, nil
	}
	known, err := knownUnits(s, a.Served)
	if err != nil {
		return nil, err
	}
	counter := unitCounter{table: table, query: &a.Query, pause: pause, levels: levels, known: known}
	var kept []int // groups that are no units
	for i, g := range questionOf(r, a.Endpoint, nil).Groups {
		if levelOfField(g.Column) == 0 {
			kept = append(kept, i)
			counter.groups = append(counter.groups, g)
		}
	}
	byKey, err := counter.count()
	if _, many := errors.AsType[*aggregate.TooManyGroups](err); many && !asked {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c := &covered{shown: has(contract.Sum)}
	for i := range found.total {
		key := ""
		for _, k := range kept {
			key += groupKey(found.result.Group(i, k))
		}
		u := byKey[key]
		c.of = append(c.of, u)
		if u.known > 0 && (c.least.known == 0 || u.some*c.least.known < c.least.some*u.known) {
			c.least = u
		}
	}
	return c, nil
}

// unitCounter counts the units that have rows, by some groups.
type unitCounter struct {
	table  *aggregate.Table
	query  *index.Query
	pause  func()
	levels int
	known  map[string][2]int
	groups []aggregate.Group
}

// count counts the units by the values of the groups. Where these are of countries alone, each unit
// is a group. Elsewhere that would be almost a group for each row, so the different codes of units
// are counted; only in countries with rows that are in no unit, whose codes are to be left out,
// each unit is a group.
func (c *unitCounter) count() (map[string]units, error) {
	byKey := map[string]units{}
	ofCountries := !slices.ContainsFunc(c.groups, func(g aggregate.Group) bool {
		return g.Column != countryColumn && g.Column != "location_name"
	})
	if ofCountries {
		rows, err := c.eachUnit(c.query, c.groups)
		if err == nil {
			c.add(byKey, rows, len(c.groups), isKnownUnit, nil)
		}
		return byKey, err
	}
	places, err := c.eachUnit(c.query, nil)
	if err != nil {
		return nil, err
	}
	var odd []index.Value // countries with rows that are in no unit
	oddCodes := map[string]bool{}
	for i := range places.Len() {
		code, level := places.Group(i, 0).Text, int(places.Group(i, 1).Int)
		if level > 0 && isKnownUnit(places, i, 0, level) == 0 && !oddCodes[code] {
			oddCodes[code] = true
			odd = append(odd, index.Value{Text: code})
		}
	}
	q := c.question(c.query, c.groups)
	for level := 1; level <= c.levels; level++ {
		codes := aggregate.Measure{Func: aggregate.Distinct, Column: contract.UnitColumns[level]}
		q.Measures = append(q.Measures, codes)
	}
	rows, err := c.table.Answer(q)
	if err != nil {
		return nil, err
	}
	distinct := func(rows *aggregate.Result, i, _, level int) int { return int(rows.Measure(i, level-1).Int) }
	c.add(byKey, rows, len(c.groups), distinct, oddCodes)
	if len(odd) == 0 {
		return byKey, nil
	}
	// A country's newest and coarsest rows do not depend on other countries.
	query := *c.query
	query.Filters = append(slices.Clip(query.Filters),
		index.Filter{Columns: []string{countryColumn}, Op: index.Equal, Values: odd})
	if rows, err = c.eachUnit(&query, c.groups); err != nil {
		return nil, err
	}
	c.add(byKey, rows, len(c.groups), isKnownUnit, nil)
	return byKey, nil
}

// question asks for groups, with the country and level after them.
func (c *unitCounter) question(q *index.Query, groups []aggregate.Group) *aggregate.Question {
	place := []aggregate.Group{{Column: countryColumn}, {Column: levelColumn}}
	return &aggregate.Question{Query: q, MaxGroups: maxCoverage, Pause: c.pause, Groups: slices.Concat(groups, place)}
}

// eachUnit answers with a row for each unit of groups: the country, the level, and the codes.
func (c *unitCounter) eachUnit(query *index.Query, groups []aggregate.Group) (*aggregate.Result, error) {
	q := c.question(query, groups)
	for level := 1; level <= c.levels; level++ {
		q.Groups = append(q.Groups, aggregate.Group{Column: contract.UnitColumns[level]})
	}
	return c.table.Answer(q)
}

// isKnownUnit is 1 for a row of eachUnit whose code is of a unit.
func isKnownUnit(rows *aggregate.Result, i, own, level int) int {
	if contract.IsPlaceholder(rows.Group(i, own+1+level).Text) {
		return 0
	}
	return 1
}

// add adds up the units of countries by the first fields of rows, except for some countries. Of a
// country only the lowest level counts.
func (c *unitCounter) add(
	to map[string]units, rows *aggregate.Result, own int, count func(rows *aggregate.Result, i, own, level int) int,
	except map[string]bool,
) {
	first := make([]aggregate.Value, own+1) // of the rows of a country: its groups, and the country
	for i := 0; i < rows.Len(); {
		key := ""
		for k := range first {
			first[k] = rows.Group(i, k)
			if k < own {
				key += groupKey(first[k])
			}
		}
		country := first[own].Text
		lowest, some := 0, 0
		for ; i < rows.Len() && startsWith(rows, i, first); i++ {
			level := int(rows.Group(i, own+1).Int)
			if level > lowest {
				lowest, some = level, 0
			}
			if level == lowest && level > 0 {
				some += count(rows, i, own, level)
			}
		}
		if lowest > 0 && !except[country] {
			all := to[key]
			to[key] = units{all.some + some, all.known + c.known[country][lowest-1]}
		}
	}
}

// startsWith reports whether the first fields of a row have some values.
func startsWith(rows *aggregate.Result, row int, values []aggregate.Value) bool {
	for k, v := range values {
		if rows.Group(row, k) != v {
			return false
		}
	}
	return true
}

// groupKey is a value as a part of a key.
func groupKey(v aggregate.Value) string { return string(v.Append([]byte{byte(v.Kind)})) + "\x00" }

type unitsKey struct{}

// knownUnits are how many units of levels 1 and 2 the countries of a snapshot have.
func knownUnits(s *list.Lists, v *state.Served) (map[string][2]int, error) {
	if known, ok := v.Kept.Load(unitsKey{}); ok {
		return known.(map[string][2]int), nil
	}
	all := map[string][2]int{}
	for level, path := range unitLists {
		rows, err := askList(s, v, path, url.Values{groupBy: {countryColumn}})
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
	v.Kept.Store(unitsKey{}, all)
	return all, nil
}
