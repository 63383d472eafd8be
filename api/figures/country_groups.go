package figures

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/list"
	"hdqs/api/say"
)

// listGroups are the groups as records: of countries that are asked for, or all. Names of an
// operator's own are in one language.
func (c *headlineReader) listGroups() list.Records {
	a := c.a
	groups := a.Served.Bound.Groups
	found := &table{fields: a.Endpoint.Fields}
	for i := range groups.All {
		g := &groups.All[i]
		isAsked := func(code string) bool { return slices.Contains(c.codes, code) }
		if c.chosen && !slices.ContainsFunc(g.Members, isAsked) {
			continue
		}
		record := []any{textOf(g.Kind), textOf(g.Slug)}
		for _, l := range lang.All() {
			name := g.Name
			if g.Kind != contract.OwnGroup {
				name = l.Group(g.Slug, name)
			}
			record = append(record, textOf(name))
		}
		found.records = append(found.records, append(record, g.Members))
	}
	found.from, found.n = pageOf(&a.Request.Question, len(found.records))
	found.notes.Hints = list.NameHints(&a.Request.Question, a.Served.Bound, a.List, len(found.records))
	if groups.Lacking {
		found.notes.Hints = append(found.notes.Hints, say.Of(contract.WhyLacking))
	}
	return found
}

// countryCoverage is how many countries of the groups that a request chooses, or groups by, have
// rows: where the fewest have. asked is what it asks of the table. Groups of countries and their
// units do not count as groups here: each would cover only itself.
func countryCoverage(
	table *aggregate.Table, r *contract.Question, asked *aggregate.Question,
) (least say.Coverage, err error) {
	groups := slices.DeleteFunc(slices.Clone(asked.Groups), func(g aggregate.Group) bool {
		return g.Classes == nil && (levelOfField(g.Column) > 0 || isCountry(r.Endpoint(), g.Column))
	})
	for column, codes := range countriesOf(r) {
		rows, err := table.Answer(&aggregate.Question{
			Query: asked.Query, MaxGroups: maxGroups, Pause: asked.Pause, Groups: groups,
			Measures: []aggregate.Measure{{Func: aggregate.Distinct, Column: column}},
		})
		if _, many := errors.AsType[*aggregate.TooManyGroups](err); many {
			return say.Coverage{}, nil
		}
		if err != nil {
			return least, err
		}
		for i := range max(rows.Len(), 1) {
			have, of := 0, codes
			for k, g := range groups {
				if g.Column == column && g.Classes != nil && rows.Len() > 0 {
					of = slices.DeleteFunc(slices.Clone(of), func(code string) bool {
						return g.Classes.Of[code] != rows.Group(i, k).Text
					})
				}
			}
			if rows.Len() > 0 {
				have = int(rows.Measure(i, 0).Int)
			}
			if len(of) > 0 && (least.All == 0 || have*least.All < least.Have*len(of)) {
				least = say.Coverage{Have: have, All: len(of)}
			}
		}
	}
	return least, nil
}

// isCountry reports whether a column names a country.
func isCountry(e *contract.Endpoint, column string) bool {
	return strings.Contains(column, "location_") || e.Path == locationsPath
}

// countriesOf are the countries of the groups that a question chooses, by column: those of all
// groups, if it groups by a class.
func countriesOf(r *contract.Question) map[string][]string {
	all := map[string][]string{}
	for _, g := range r.Groups {
		if classes := r.Classes(g); classes != nil {
			all[r.Endpoint().Fields[g.Field].Column()] = slices.Sorted(maps.Keys(classes.Of))
		}
	}
	for i := range r.Filters {
		if p := &r.Plan().Params[r.Filters[i].Param]; p.Grouped {
			codes := r.MembersOf(&r.Filters[i])
			if others, has := all[p.Columns[0]]; has {
				codes = slices.DeleteFunc(codes, func(code string) bool { return !slices.Contains(others, code) })
			}
			all[p.Columns[0]] = codes
		}
	}
	return all
}
