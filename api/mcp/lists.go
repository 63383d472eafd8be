package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/site"
)

// rows answers with records of a list.
func rows(c *call) (*Answer, error) {
	e, err := c.list()
	if err != nil {
		return nil, err
	}
	filters, err := c.params()
	if err != nil {
		return nil, err
	}
	params := maps.Clone(filters)
	if len(c.args.Fields) > 0 {
		params.Set(contract.FieldsParam, strings.Join(c.args.Fields, ","))
	}
	from := c.page(params, usualRows)
	var found records
	reply, err := c.ask(e.Path, params, &found)
	if err != nil {
		return nil, err
	}
	total, err := strconv.Atoi(reply.Header.Get(contract.HeaderTotal))
	if err != nil {
		return nil, err
	}
	a := &Answer{
		List: e.Name(), Total: total, Rows: found.Data, from: from, next: maps.Clone(c.args.sent), Units: unitsOf(e),
		URL: c.address(e.Path, params), Partial: reply.Header.Get(contract.HeaderProvisional),
	}
	if total == 0 {
		return a, c.nothing(a, e)
	}
	s, err := c.scopeOf(e, filters)
	if err != nil {
		return nil, err
	}
	if len(s.levels) > 1 && !filters.Has(levelField) && len(e.Figures) > 0 {
		level := maps.Clone(c.args.Filters)
		if level == nil {
			level = map[string]any{}
		}
		level[levelField] = contract.Coarsest
		a.Warnings = append(a.Warnings, "these records are of several admin levels: those of a country or province "+
			"contain those of its parts. Do not add them up; instead keeps each place once")
		a.Instead = c.withFilters(level)
	}
	if from >= total {
		a.Warnings = append(a.Warnings, fmt.Sprintf("offset %d is after the last of %d records", from, total))
	}
	return a, c.describe(a, e, s)
}

// aggregate answers with groups of records.
func aggregate(c *call) (*Answer, error) {
	e, err := c.list()
	if err != nil {
		return nil, err
	}
	filters, err := c.params()
	if err != nil {
		return nil, err
	}
	params := maps.Clone(filters)
	measures := c.args.Measures
	if len(measures) == 0 {
		measures = names{contract.Count.String()}
	}
	params.Set("measures", strings.Join(measures, ","))
	if len(c.args.GroupBy) > 0 {
		params.Set("group_by", strings.Join(c.args.GroupBy, ","))
	}
	from := c.page(params, usualGroups)
	path := e.Path + "/" + contract.Aggregate.String()
	var found records
	reply, err := c.ask(path, params, &found)
	if err != nil {
		return nil, err
	}
	total, err := strconv.Atoi(reply.Header.Get(contract.HeaderTotal))
	if err != nil {
		return nil, err
	}
	s, err := c.scopeOf(e, filters)
	if err != nil {
		return nil, err
	}
	a := &Answer{
		List: e.Name(), Total: total, Rows: found.Data, from: from, next: maps.Clone(c.args.sent), Records: &s.records,
		URL: c.address(path, params), Coverage: reply.Header.Get(contract.HeaderCoverage),
		Partial: reply.Header.Get(contract.HeaderProvisional), Units: map[string]string{},
	}
	for _, m := range measures {
		function, field, ok := strings.Cut(m, ":")
		if unit := e.Unit(field); ok && unit != "" && function != "distinct" {
			a.Units[function+"_"+field] = unit
		} else if m == contract.Count.String() || function == "distinct" {
			a.Units[strings.Replace(m, ":", "_", 1)] = "records"
			if ok {
				a.Units[function+"_"+field] = "different values"
			}
		}
	}
	if hint := reply.Header.Get(contract.HeaderHint); hint != "" {
		a.Warnings = append(a.Warnings, hint)
	}
	if s.records == 0 {
		a.Total, a.Rows = 0, nil // a sum of nothing is no number
		return a, c.nothing(a, e)
	}
	return a, c.describe(a, e, s)
}

// unitsOf are the units of a list's figures, by field.
func unitsOf(e *contract.Endpoint) map[string]string {
	units := map[string]string{}
	for _, f := range e.Figures {
		if unit := e.Unit(f.Field); unit != "" {
			units[f.Field] = unit
		}
	}
	return units
}

// changes answers with what changed in a list since a snapshot.
func changes(c *call) (*Answer, error) {
	e, err := c.list()
	if err != nil {
		return nil, err
	}
	params, err := c.params()
	if err != nil {
		return nil, err
	}
	var all site.Sources
	if _, err := c.ask(sourcesPath, map[string][]string{"list": {e.Name()}}, &all); err != nil {
		return nil, err
	}
	a := &Answer{List: e.Name(), next: maps.Clone(c.args.sent), Updated: all.Lists[0].Updated, Stale: all.Lists[0].Stale}
	since := c.args.Since
	if since == "" && len(all.Earlier) > 0 {
		since = all.Earlier[0]
	}
	path := e.Path + "/" + contract.Changes.String()
	if since == "" || since == all.Snapshot {
		a.URL = c.address(sourcesPath, map[string][]string{"list": {e.Name()}})
		a.Nothing = &Nothing{Statement: "snapshot " + all.Snapshot + ", loaded " + all.Loaded + ", is compared with none: " +
			"no earlier one is held here. Keep its id, and ask for changes since it later"}
		a.cite(all.Lists[0].Datasets)
		return a, nil
	}
	params.Set(contract.SinceParam, since)
	a.from = c.page(params, usualRows)
	a.URL = c.address(path, params)
	var found records
	reply, err := c.ask(path, params, &found)
	if err != nil {
		if refused, ok := err.(*refusal); ok && len(all.Earlier) > 0 {
			refused.Message += "; snapshots that are held: " + strings.Join(all.Earlier, ", ")
		}
		return nil, err
	}
	if a.Total, err = strconv.Atoi(reply.Header.Get(contract.HeaderTotal)); err != nil {
		return nil, err
	}
	a.Rows, a.next["since"], a.Units = found.Data, since, unitsOf(e)
	if a.Total == 0 {
		a.Nothing = &Nothing{Statement: "no such record of " + e.Name() + " has changed since " + since}
	}
	a.cite(all.Lists[0].Datasets)
	return a, nil
}

// source answers with the sources of lists.
func source(c *call) (*Answer, error) {
	params := map[string][]string{}
	if c.args.List != "" {
		e, err := c.list()
		if err != nil {
			return nil, err
		}
		params["list"] = []string{e.Name()}
	}
	var all site.Sources
	if _, err := c.ask(sourcesPath, params, &all); err != nil {
		return nil, err
	}
	a := &Answer{URL: c.address(sourcesPath, params)}
	seen := map[string]bool{}
	for i := range all.Lists {
		l := &all.Lists[i]
		if c.args.List == "" && c.args.Dataset == "" {
			l.Datasets = nil
			a.Rows = append(a.Rows, marshal(struct {
				*site.ListSources
				Datasets int `json:"datasets"`
			}{l, len(l.Datasets)}))
			continue
		}
		a.List, a.Updated, a.Stale = l.List, l.Updated, l.Stale
		for _, d := range l.Datasets {
			if is := d.ID == c.args.Dataset || containsWords(d.Title, c.args.Dataset); seen[d.ID] || !is {
				continue
			}
			seen[d.ID] = true
			a.Rows = append(a.Rows, marshal(struct {
				site.DatasetInfo
				Citation string `json:"citation"`
			}{d, citation(&d, &all)}))
		}
	}
	if c.args.Dataset != "" && c.args.List == "" {
		a.List, a.Updated, a.Stale = "", "", ""
	}
	if a.Total = len(a.Rows); a.Total == 0 {
		a.Nothing = &Nothing{Statement: "no dataset is known as the source of " + c.args.List}
		if c.args.Dataset != "" {
			a.Nothing.Statement = fmt.Sprintf("no dataset here has the id or the words %q", c.args.Dataset)
			a.Instead = &Call{"find", map[string]any{"words": c.args.Dataset, "kind": "dataset"}}
		}
	}
	return a, nil
}

// containsWords reports whether a title has all words of a text.
func containsWords(title, text string) bool {
	title = strings.ToLower(title)
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(text)), func(word string) bool {
		return !strings.Contains(title, word)
	})
}

// citation is how a dataset is cited.
func citation(d *site.DatasetInfo, all *site.Sources) string {
	parts := []string{d.Provider, d.Title}
	if d.Updated != "" {
		parts = append(parts, "updated "+d.Updated[:10])
	}
	parts = append(parts, d.License, d.Link, "read from snapshot "+all.Snapshot)
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ". ")
}

// object is a record as a map, for its fields.
func object(row json.RawMessage) map[string]any {
	of := map[string]any{}
	_ = json.Unmarshal(row, &of) // which was read from JSON
	return of
}
