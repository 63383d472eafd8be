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
	q := &aggregate.Question{
		Query: &a.Query, Measures: []aggregate.Measure{{Func: aggregate.Count}}, MaxGroups: maxCoverage, Pause: pause,
	}
	var kept []int // groups that are no units
	for i, g := range questionOf(r, a.Endpoint, nil).Groups {
		if !isUnit(g.Column) {
			kept = append(kept, i)
			q.Groups = append(q.Groups, g)
		}
	}
	own := len(q.Groups)
	q.Groups = append(q.Groups, aggregate.Group{Column: countryColumn}, aggregate.Group{Column: levelParam})
	for level := 1; level <= levels; level++ {
		q.Groups = append(q.Groups, aggregate.Group{Column: contract.UnitColumns[level]})
	}
	rows, err := table.Answer(q)
	if _, many := errors.AsType[*aggregate.TooManyGroups](err); many && !asked {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	byKey := addUnits(rows, own, known)
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

// addUnits adds up the units of countries by the first fields of rows. Of a country only the lowest
// level counts.
func addUnits(rows *aggregate.Result, own int, known map[string][2]int) map[string]units {
	byKey := map[string]units{}
	first := make([]aggregate.Value, own+1) // of the rows of a country: its groups, and the country
	for i := 0; i < rows.Len(); {
		key := ""
		for k := range first {
			first[k] = rows.Group(i, k)
			if k < own {
				key += groupKey(first[k])
			}
		}
		country := first[own]
		lowest, some := int64(0), 0
		for ; i < rows.Len() && startsWith(rows, i, first); i++ {
			level := rows.Group(i, own+1).Int
			if level > lowest {
				lowest, some = level, 0
			}
			if level == lowest && level > 0 && !strings.HasSuffix(rows.Group(i, own+1+int(level)).Text, noUnit) {
				some++
			}
		}
		if lowest > 0 {
			all := byKey[key]
			byKey[key] = units{all.some + some, all.known + known[country.Text][lowest-1]}
		}
	}
	return byKey
}

// noUnit is the end of the codes of rows that are in no unit of a level.
const noUnit = "-XXX"

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
func groupKey(v aggregate.Value) string { return fmt.Sprintf("%d%s\x00", v.Kind, v.String()) }

// isUnit reports whether a column is of a unit below countries.
func isUnit(column string) bool { return strings.Contains(column, "admin") && column != levelParam }

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
