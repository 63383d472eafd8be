package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdqs/api/contract"
	"hdqs/api/find"
	"hdqs/api/state"
	"hdqs/api/textual"
)

const (
	resourceField = "resource_catalog_id"
	levelField    = "admin_level"

	mostSources = 8   // that an answer names
	mostAsked   = 200 // values of one parameter
	mostValues  = 12  // that are named as nearest
)

// scope is what is known of the records that pass filters, whatever page of them is shown.
type scope struct {
	Levels    []int  `json:"admin_levels,omitempty"`
	From      string `json:"period_start,omitempty"`
	To        string `json:"period_end,omitempty"`
	records   int
	resources []string
}

// groups asks for measures of the records that pass, in groups by fields.
func (c *call) groups(e *contract.Endpoint, filters url.Values, by, measures string) ([]textual.Record, error) {
	params := maps.Clone(filters)
	if params.Set("group_by", by); by == "" {
		params.Del("group_by")
	}
	params.Set("measures", measures)
	params.Set("limit", strconv.Itoa(contract.MaxLimit))
	found, err := c.ask(e.Path+"/aggregate", params, false)
	if err != nil {
		return nil, err
	}
	return found.texts, nil
}

// scopeOf counts the records that pass, by level and source file, in one aggregate.
func (c *call) scopeOf(e *contract.Endpoint, filters url.Values) (s scope, err error) {
	groups, measures := []string{levelField, resourceField}, "count"
	groups = slices.DeleteFunc(groups, func(field string) bool { return !e.HasField(field) })
	if e.HasPeriod() {
		measures = "count,min:" + contract.PeriodStart + ",max:" + contract.PeriodEnd
	}
	found, err := c.groups(e, filters, strings.Join(groups, ","), measures)
	for _, g := range found {
		count, _ := strconv.Atoi(g.Value("count"))
		s.records += count
		level, err := strconv.Atoi(g.Value(levelField)) // there may be none
		if err == nil && !slices.Contains(s.Levels, level) {
			s.Levels = append(s.Levels, level)
		}
		resource := g.Value(resourceField)
		if resource != "" && !slices.Contains(s.resources, resource) {
			s.resources = append(s.resources, resource)
		}
		from := g.Value("min_" + contract.PeriodStart)
		if from != "" && (s.From == "" || from < s.From) {
			s.From = from
		}
		s.To = max(s.To, g.Value("max_"+contract.PeriodEnd))
	}
	slices.Sort(s.Levels)
	return s, err
}

// describe adds to an answer what is known of its records.
func (c *call) describe(a *Answer, e *contract.Endpoint, filters url.Values, s scope) error {
	a.scope = s
	if err := missing(c, a, e, filters); err != nil {
		return err
	}
	datasets := map[string]bool{}
	if len(s.resources) > 0 {
		of := strings.Join(s.resources[:min(len(s.resources), mostAsked)], ",")
		params := url.Values{resourceField + contract.SeveralSuffix: {of}, "limit": {strconv.Itoa(mostAsked)}}
		found, err := c.ask(listNamed("resource").Path, params, false)
		if _, odd := errors.AsType[*refusal](err); err != nil && !odd { // an id that is none
			return err
		} else if err == nil {
			for _, r := range found.texts {
				datasets[r.Value("dataset_catalog_id")] = true
			}
		}
	}
	c.cite(a, e, func(d *state.SourceDataset) bool {
		return !e.HasField(resourceField) || datasets[d.ID]
	})
	return nil
}

// timeText is a time as answers have it, empty if it is not known.
func timeText(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// cite names the sources of a list that are used, and how old they are.
func (c *call) cite(a *Answer, e *contract.Endpoint, used func(*state.SourceDataset) bool) {
	of := c.of.Sources(c.served, e.Name()).Lists[0]
	a.Updated, a.Stale = timeText(of.Updated), timeText(of.StaleSince)
	for i := range of.Datasets {
		if d := &of.Datasets[i]; used(d) {
			a.Sources = append(a.Sources, cited{d.Title, d.Publisher, d.License, timeText(d.Updated), d.Link})
		}
	}
	if more := len(a.Sources) - mostSources; more > 0 {
		a.Sources = a.Sources[:mostSources]
		a.Warnings = append(a.Warnings, fmt.Sprintf("%d more datasets are sources: the tool source has all", more))
	}
	if len(a.Sources) == 0 {
		a.License = "not known: no dataset of the catalog has the source files of these records"
	}
}

// nothing says that no record passes filters, and what passes without each of them, or without any.
func (c *call) nothing(a *Answer, e *contract.Endpoint, params url.Values) (err error) {
	filters := slices.DeleteFunc(slices.Sorted(maps.Keys(params)), func(name string) bool {
		return slices.Contains(selection, name)
	})
	a.Nothing = new(Nothing)
	for _, name := range filters {
		if err = c.nearestWithout(a.Nothing, e, params, name); err != nil {
			return err
		}
		if a.Instead == nil {
			if a.Instead, err = c.meantBy(e, name, params.Get(name)); err != nil {
				return err
			}
		}
	}
	if len(a.Nothing.Nearest) == 0 && len(filters) > 1 {
		err = c.nearestWithout(a.Nothing, e, params, filters...)
	}
	a.Nothing.Statement = "no record of " + e.Name() + " exists here"
	if len(filters) > 0 {
		a.Nothing.Statement = "no record of " + e.Name() + " passes " + without(params, filters)
	}
	for _, near := range a.Nothing.Nearest {
		a.Nothing.Statement += fmt.Sprintf("; without %s there are %d records", near.Without, near.Records)
		if near.Values != nil {
			a.Nothing.Statement += ", of " + strings.Join(near.Values, ", ")
		}
		if near.From != "" && near.To != "" {
			a.Nothing.Statement += ", from " + near.From[:10] + " to " + near.To[:10]
		}
	}
	return err
}

// without are filters in words.
func without(params url.Values, names []string) string {
	var all []string
	for _, name := range names {
		all = append(all, name+"="+params.Get(name))
	}
	return strings.Join(all, " and ")
}

// nearestWithout adds what passes without some of the filters.
func (c *call) nearestWithout(n *Nothing, e *contract.Endpoint, params url.Values, names ...string) error {
	rest, dropped := maps.Clone(params), slices.Clone(names)
	for _, name := range names {
		rest.Del(name)
		dropped = append(dropped, strings.TrimSuffix(name, contract.SeveralSuffix))
	}
	s, err := c.scopeOf(e, rest)
	if err != nil || s.records == 0 {
		return err
	}
	near := existing{
		Without: without(params, names), scope: s, Records: s.records, Call: c.withFilter("", nil, dropped...),
	}
	field := dropped[len(names)]
	if !e.HasField(field) {
		field = contract.CountryParam
	}
	if e.HasField(field) {
		near.Values, err = c.valuesOf(e, field, rest)
	}
	near.More = max(0, len(near.Values)-mostValues)
	near.Values = near.Values[:len(near.Values)-near.More]
	n.Nearest = append(n.Nearest, near)
	return err
}

// valuesOf are the values of a field among the records that pass, the most frequent first.
func (c *call) valuesOf(e *contract.Endpoint, field string, filters url.Values) (values []string, err error) {
	found, err := c.groups(e, filters, field, "count")
	count := func(r textual.Record) int {
		n, _ := strconv.Atoi(r.Value("count"))
		return n
	}
	slices.SortStableFunc(found, func(a, b textual.Record) int { return cmp.Compare(count(b), count(a)) })
	for _, group := range found {
		value, ok := group.Text(field)
		if !ok {
			value = "null"
		}
		values = append(values, value)
	}
	return values, err
}

// kindsOf are the kinds of names that filters match, by what the name of the filter begins with.
var kindsOf = [][2]string{
	{"location_", "country"},
	{"asylum_location_", "country"},
	{"origin_location_", "country"},
	{"admin1_", "province"},
	{"admin2_", "district"},
	{"sector_", "sector"},
	{"commodity_", "commodity"},
	{"market_", "market"},
	{"org_", "organisation"},
}

// meantBy is the call with the code that a filter's value means, a name or another spelling of the
// code; nil if it means none.
func (c *call) meantBy(e *contract.Endpoint, name, value string) (*Call, error) {
	at := slices.IndexFunc(kindsOf, func(k [2]string) bool { return strings.HasPrefix(name, k[0]) })
	if at < 0 {
		return nil, nil
	}
	field, plain := kindsOf[at][0]+"code", strings.TrimSuffix(name, contract.SeveralSuffix)
	if field == "org_code" {
		field = "org_acronym"
	}
	values := []string{value}
	if plain != name {
		values = strings.Split(value, ",")
	}
	codes, err := c.codesOf(values, kindsOf[at][1])
	if codes == nil || slices.Equal(codes, values) && plain == field || !slices.Contains(filterNames(e), field) {
		return nil, err
	}
	if len(codes) == 1 {
		return c.withFilter(field, codes[0], name, plain), nil
	}
	return c.withFilter(field, codes, name, plain), nil
}

// missing warns of values of a filter of several that no record has: the answer would look as if it
// were of all of them.
func missing(c *call, a *Answer, e *contract.Endpoint, filters url.Values) error {
	for _, name := range slices.Sorted(maps.Keys(filters)) {
		field, isSeveral := strings.CutSuffix(name, contract.SeveralSuffix)
		if !isSeveral || !e.HasField(field) {
			continue
		}
		values, err := c.valuesOf(e, field, filters)
		if err != nil {
			return err
		}
		for one := range strings.SplitSeq(filters.Get(name), ",") {
			is := func(value string) bool { return strings.EqualFold(value, one) }
			if !slices.ContainsFunc(values, is) && !strings.Contains(one, `\`) {
				warning := fmt.Sprintf("no record has %s=%q: the answer is without it", field, one)
				a.Warnings = append(a.Warnings, warning)
			}
		}
	}
	return nil
}

// codesOf are the codes that texts most probably mean, of names of a kind; nil if one means none.
func (c *call) codesOf(texts []string, kind string) (codes []string, err error) {
	for _, text := range texts {
		found, err := c.find(text, kind, 0)
		if err != nil || len(found.Results) == 0 {
			return nil, err
		}
		is := func(r find.Result) bool { return strings.EqualFold(r.Code, text) || strings.EqualFold(r.Name, text) }
		codes = append(codes, found.Results[max(0, slices.IndexFunc(found.Results, is))].Code)
	}
	return codes, nil
}
