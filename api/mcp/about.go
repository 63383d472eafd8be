package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/find"
	"hdqs/api/site"
)

const (
	sourcesPath   = site.SourcesPath
	resourceField = "resource_catalog_id"
	levelField    = "admin_level"

	mostSources = 8   // that an answer names
	mostAsked   = 200 // values of one parameter
	mostValues  = 12  // that are named as nearest
	mostFiles   = 1000
)

// cited is a source of records.
type cited struct {
	Dataset  string `json:"dataset"`
	Provider string `json:"provider,omitempty"`
	License  string `json:"license"`
	Updated  string `json:"updated,omitempty"`
	Link     string `json:"link,omitempty"`
}

// scope is what is known of the records that pass filters, whatever page of them is shown.
type scope struct {
	records   int
	levels    []int
	from, to  string
	resources []string
}

// hasField reports whether records of a list have a field.
func hasField(e *contract.Endpoint, name string) bool {
	return slices.Contains(contract.FieldNames(e.Fields), name)
}

// scopeOf counts the records that pass, by level and source file, in one aggregate.
func (c *call) scopeOf(e *contract.Endpoint, filters url.Values) (s scope, err error) {
	params := maps.Clone(filters)
	var groups []string
	for _, field := range []string{levelField, resourceField} {
		if hasField(e, field) {
			groups = append(groups, field)
		}
	}
	measures := "count"
	if e.HasPeriod() {
		measures += ",min:" + contract.PeriodStart + ",max:" + contract.PeriodEnd
	}
	params.Set("measures", measures)
	if len(groups) > 0 {
		params.Set("group_by", strings.Join(groups, ","))
	}
	params.Set("limit", strconv.Itoa(mostFiles))
	var found struct {
		Data []struct {
			Level    *int   `json:"admin_level"`
			Resource string `json:"resource_catalog_id"`
			Count    int    `json:"count"`
			From     string `json:"min_reference_period_start"`
			To       string `json:"max_reference_period_end"`
		} `json:"data"`
	}
	if _, err := c.ask(e.Path+"/aggregate", params, &found); err != nil {
		return s, err
	}
	for _, g := range found.Data {
		s.records += g.Count
		if g.Level != nil && !slices.Contains(s.levels, *g.Level) {
			s.levels = append(s.levels, *g.Level)
		}
		if g.Resource != "" && !slices.Contains(s.resources, g.Resource) {
			s.resources = append(s.resources, g.Resource)
		}
		if g.From != "" && (s.from == "" || g.From < s.from) {
			s.from = g.From
		}
		s.to = max(s.to, g.To)
	}
	slices.Sort(s.levels)
	return s, nil
}

// describe adds to an answer what is known of its records.
func (c *call) describe(a *Answer, e *contract.Endpoint, s scope) error {
	a.Levels, a.From, a.To = s.levels, s.from, s.to
	sources, err := c.sourcesOf(e)
	if err != nil {
		return err
	}
	a.Updated, a.Stale = cmp.Or(a.Updated, sources.Updated), sources.Stale
	if !hasField(e, resourceField) {
		a.cite(sources.Datasets)
		return nil
	}
	params := url.Values{}
	asked := s.resources[:min(len(s.resources), mostAsked)]
	var ids []string
	if len(asked) > 0 {
		params.Set(resourceField+contract.SeveralSuffix, strings.Join(asked, ","))
		params.Set("limit", strconv.Itoa(mostAsked))
		var found struct {
			Data []struct {
				Dataset string `json:"dataset_catalog_id"`
			} `json:"data"`
		}
		if _, err := c.ask(listNamed("resource").Path, params, &found); err != nil {
			return err
		}
		for _, r := range found.Data {
			ids = append(ids, r.Dataset)
		}
	}
	a.cite(slices.DeleteFunc(sources.Datasets, func(d site.DatasetInfo) bool { return !slices.Contains(ids, d.ID) }))
	return nil
}

// cite names sources.
func (a *Answer) cite(all []site.DatasetInfo) {
	for i, d := range all {
		if i == mostSources {
			a.Warnings = append(a.Warnings,
				fmt.Sprintf("%d more datasets are sources of these records: the tool source has all", len(all)-i))
			break
		}
		a.Sources = append(a.Sources, cited{d.Title, d.Provider, d.License, d.Updated, d.Link})
	}
	if len(all) == 0 {
		a.License = "not known: the source files of these records are in no list of datasets"
	}
}

// sourcesOf are the sources of a list.
func (c *call) sourcesOf(e *contract.Endpoint) (*site.ListSources, error) {
	var all site.Sources
	if _, err := c.ask(sourcesPath, url.Values{"list": {e.Name()}}, &all); err != nil {
		return nil, err
	}
	if len(all.Lists) != 1 {
		return nil, fmt.Errorf("%s has %d lists of the name %s", sourcesPath, len(all.Lists), e.Name())
	}
	return &all.Lists[0], nil
}

// nothing says that no record passes the filters of the call, and what passes without one of them.
func (c *call) nothing(a *Answer, e *contract.Endpoint) error {
	params, err := c.params()
	if err != nil {
		return err
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if !slices.Contains(selection, name) {
			parts = append(parts, name+"="+params.Get(name))
		}
	}
	n := &Nothing{Statement: "no record of " + e.Name() + " exists in this snapshot"}
	if len(parts) > 0 {
		n.Statement = "no record of " + e.Name() + " passes " + strings.Join(parts, " and ")
	}
	a.Nothing = n
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if slices.Contains(selection, name) {
			continue
		}
		if err := c.nearestWithout(n, e, params, name); err != nil {
			return err
		}
		if a.Instead == nil {
			if a.Instead, err = c.meantBy(e, name, params.Get(name)); err != nil {
				return err
			}
		}
	}
	if len(n.Nearest) == 0 && len(parts) > 0 {
		err = c.nearestWithout(n, e, params, slices.Sorted(maps.Keys(params))...)
	}
	if a.Instead == nil {
		for _, near := range n.Nearest {
			if len(n.Nearest) == 1 {
				a.Instead = near.Call
			}
		}
	}
	if len(n.Nearest) > 0 {
		near := n.Nearest[0]
		n.Statement += fmt.Sprintf("; without %s there are %d records", near.Without, near.Records)
		if len(near.Values) > 0 {
			n.Statement += ", of " + strings.Join(near.Values, ", ")
		}
		if near.From != "" {
			n.Statement += ", from " + near.From[:10] + " to " + near.To[:min(len(near.To), 10)]
		}
	}
	return err
}

// nearestWithout adds what passes without some of the filters.
func (c *call) nearestWithout(n *Nothing, e *contract.Endpoint, params url.Values, names ...string) error {
	rest, filters := maps.Clone(params), maps.Clone(c.args.Filters)
	var without []string
	for _, name := range names {
		without = append(without, name+"="+params.Get(name))
		rest.Del(name)
		delete(filters, name)
		delete(filters, strings.TrimSuffix(name, contract.SeveralSuffix))
	}
	s, err := c.scopeOf(e, rest)
	if err != nil || s.records == 0 {
		return err
	}
	near := existing{
		Without: strings.Join(without, "&"), Records: s.records, Levels: s.levels, From: s.from, To: s.to,
		Call: c.withFilters(filters),
	}
	field := strings.TrimSuffix(names[0], contract.SeveralSuffix)
	if !hasField(e, field) {
		field = contract.CountryParam
	}
	if hasField(e, field) {
		rest.Set("of", field)
		var found struct {
			Data []struct {
				Value json.RawMessage `json:"value"`
			} `json:"data"`
		}
		if _, err := c.ask(e.Path+"/facets", rest, &found); err != nil {
			return err
		}
		for i, v := range found.Data {
			if i < mostValues {
				near.Values = append(near.Values, strings.Trim(string(v.Value), `"`))
			} else {
				near.More++
			}
		}
	}
	n.Nearest = append(n.Nearest, near)
	return nil
}

// kindsOf are the kinds of names that filters match, by what the name of the filter begins with.
var kindsOf = []struct{ prefix, kind string }{
	{"location", "country"},
	{"asylum_location", "country"},
	{"origin_location", "country"},
	{"admin1", "province"},
	{"admin2", "district"},
	{"sector", "sector"},
	{"commodity", "commodity"},
	{"market", "market"},
	{"org_acronym", "organisation"},
	{"org_name", "organisation"},
}

// meantBy is the call with the code in place of a name, or the name in place of a code, nil if a
// filter's value is neither.
func (c *call) meantBy(e *contract.Endpoint, name, value string) (*Call, error) {
	for _, k := range kindsOf {
		if !strings.HasPrefix(name, k.prefix) {
			continue
		}
		hit, err := c.findOne(value, k.kind)
		if err != nil || hit == nil {
			return nil, err
		}
		plain := strings.TrimSuffix(name, contract.SeveralSuffix)
		code := strings.TrimSuffix(plain, "_name")
		if code != plain {
			code += "_code"
		}
		if hit.Code == value && code == plain || !slices.Contains(filterNames(e), code) {
			return nil, nil
		}
		filters := maps.Clone(c.args.Filters)
		delete(filters, name)
		delete(filters, plain)
		filters[code] = hit.Code
		return c.withFilters(filters), nil
	}
	return nil, nil
}

// findOne is the name of a kind that a text is, by name or code; nil without one.
func (c *call) findOne(text, kind string) (*find.Result, error) {
	if text == "" {
		return nil, nil
	}
	var found find.Answer
	if _, err := c.ask(searchPath, url.Values{"q": {text}, "kind": {kind}}, &found); err != nil {
		return nil, err
	}
	for i := range found.Results {
		if r := &found.Results[i]; strings.EqualFold(r.Code, text) || strings.EqualFold(r.Name, text) {
			return r, nil
		}
	}
	if len(found.Results) > 0 {
		return &found.Results[0], nil
	}
	return nil, nil
}
