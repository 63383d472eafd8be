package mcp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdqs/api/contract"
	"hdqs/api/say"
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
	hints     []say.Text
}

// groups asks for measures of the records that pass, in groups by fields.
func (c *call) groups(q *contract.Question, by []string, measures ...string) (*found, error) {
	return c.ask(q.As(contract.Aggregate).GroupBy(by...).Measure(measures...).Page(0, contract.MaxLimit), false)
}

// scopeOf counts the records that pass, by level and source file, in one aggregate.
func (c *call) scopeOf(q *contract.Question) (s scope, err error) {
	measures := []string{"count"}
	if q.Endpoint().HasPeriod() {
		measures = append(measures, "min:"+contract.PeriodStart, "max:"+contract.PeriodEnd)
	}
	found, err := c.groups(q, []string{levelField, resourceField}, measures...)
	if err != nil {
		return s, err
	}
	s.hints = found.notes.Hints
	for _, g := range found.texts {
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
func (c *call) describe(a *Answer, q *contract.Question, filters []filter, s scope) error {
	a.scope = s
	if err := missing(c, a, q, filters); err != nil {
		return err
	}
	datasets := map[string]bool{}
	if len(s.resources) > 0 {
		of := contract.Ask(listNamed("resource"), contract.Rows).Page(0, mostAsked)
		found, err := c.ask(of.KeepAll(resourceField, s.resources[:min(len(s.resources), mostAsked)]), false)
		if err != nil {
			return err
		}
		for _, r := range found.texts {
			datasets[r.Value("dataset_catalog_id")] = true
		}
	}
	e := q.Endpoint()
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
func (c *call) nothing(a *Answer, q *contract.Question, filters []filter) (err error) {
	e := q.Endpoint()
	filters = slices.DeleteFunc(filters, func(f filter) bool { return slices.Contains(selection, f.name) })
	a.Nothing = new(nothing)
	if a.Instead, err = byUnitName(c, q, filters); err != nil {
		return err
	}
	for _, f := range filters {
		if err = c.nearestWithout(a.Nothing, q, f); err != nil {
			return err
		}
		if a.Instead == nil {
			if a.Instead, err = c.meantBy(e, f); err != nil {
				return err
			}
		}
	}
	if len(a.Nothing.Nearest) == 0 && len(filters) > 1 {
		err = c.nearestWithout(a.Nothing, q, filters...)
	}
	a.Nothing.Statement = "no record of " + e.Name() + " exists here"
	if len(filters) > 0 {
		a.Nothing.Statement = "no record of " + e.Name() + " passes " + without(filters)
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

// byUnitName is the call with the name of a unit in place of its code, if records have it: lists
// can have units with codes of their provider, which are in no list of codes. It is nil otherwise.
func byUnitName(c *call, q *contract.Question, filters []filter) (*Call, error) {
	for _, f := range filters {
		unit, isCode := strings.CutSuffix(f.name, "_code")
		if unit != "admin1" && unit != "admin2" || !isCode {
			continue
		}
		found, err := c.ask(contract.Ask(listNamed(unit), contract.Rows).Keep("code", f.text), false)
		if err != nil || len(found.texts) != 1 {
			return nil, err
		}
		name, country := found.texts[0].Value("name"), found.texts[0].Value(contract.CountryParam)
		named := q.Copy().Drop(f.name)
		named.Keep(unit+"_name", q.Plan().Param(unit+"_name").Exactly(name)).Keep(contract.CountryParam, country)
		s, err := c.scopeOf(named)
		if err != nil || s.records == 0 {
			return nil, err
		}
		other := maps.Clone(c.args.Filters)
		other[unit+"_name"], other[contract.CountryParam] = name, country
		delete(other, f.name)
		return c.with("filters", other), nil
	}
	return nil, nil
}

// without are filters in words.
func without(filters []filter) string {
	var all []string
	for _, f := range filters {
		all = append(all, f.name+"="+f.text)
	}
	return strings.Join(all, " and ")
}

// nearestWithout adds what passes without some of the filters.
func (c *call) nearestWithout(n *nothing, q *contract.Question, filters ...filter) error {
	var names, fields []string
	for _, f := range filters {
		names, fields = append(names, f.name), append(fields, strings.TrimSuffix(f.name, contract.SeveralSuffix))
	}
	rest := q.Copy().Drop(names...)
	s, err := c.scopeOf(rest)
	if err != nil || s.records == 0 {
		return err
	}
	near := existing{
		Without: without(filters), scope: s, Records: s.records,
		Call: c.withFilter("", nil, append(names, fields...)...),
	}
	field := fields[0]
	if !q.Endpoint().HasField(field) {
		field = contract.CountryParam
	}
	if q.Endpoint().HasField(field) {
		near.Values, err = c.valuesOf(rest, field)
	}
	near.More = max(0, len(near.Values)-mostValues)
	near.Values = near.Values[:len(near.Values)-near.More]
	n.Nearest = append(n.Nearest, near)
	return err
}

// valuesOf are the values of a field among the records that pass, the most frequent first.
func (c *call) valuesOf(q *contract.Question, field string) (values []string, err error) {
	found, err := c.groups(q, []string{field}, "count")
	count := func(r textual.Record) int {
		n, _ := strconv.Atoi(r.Value("count"))
		return n
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(found.texts, func(a, b textual.Record) int { return cmp.Compare(count(b), count(a)) })
	for _, group := range found.texts {
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
func (c *call) meantBy(e *contract.Endpoint, f filter) (*Call, error) {
	at := slices.IndexFunc(kindsOf, func(k [2]string) bool { return strings.HasPrefix(f.name, k[0]) })
	if at < 0 {
		return nil, nil
	}
	field, plain := kindsOf[at][0]+"code", strings.TrimSuffix(f.name, contract.SeveralSuffix)
	if field == "org_code" {
		field = "org_acronym"
	}
	codes, err := c.codesOf(f.values, kindsOf[at][1])
	if codes == nil || slices.Equal(codes, f.values) && plain == field || !slices.Contains(filterNames(e), field) {
		return nil, err
	}
	if len(codes) == 1 {
		return c.withFilter(field, codes[0], f.name, plain), nil
	}
	return c.withFilter(field, codes, f.name, plain), nil
}

// missing warns of values of a filter of several that no record has: the answer would look as if it
// were of all of them.
func missing(c *call, a *Answer, q *contract.Question, filters []filter) error {
	for _, f := range filters {
		field, isSeveral := strings.CutSuffix(f.name, contract.SeveralSuffix)
		if !isSeveral || !q.Endpoint().HasField(field) {
			continue
		}
		values, err := c.valuesOf(q, field)
		if err != nil {
			return err
		}
		for _, one := range f.values {
			is := func(value string) bool { return strings.EqualFold(value, one) }
			if !slices.ContainsFunc(values, is) && !strings.Contains(one, `\`) {
				warning := fmt.Sprintf("no record has %s=%q: the answer is without it", field, one)
				a.Warnings = append(a.Warnings, warning)
			}
		}
	}
	return nil
}

// codesOf are the codes that texts most probably mean, of names of a kind: all that have a text as
// their name. It is nil if one means none, or any of several countries.
func (c *call) codesOf(texts []string, kind string) (codes []string, err error) {
	for _, text := range texts {
		found, err := c.find(text, kind, 0)
		if err == nil && len(found.Results) == 0 && kind == "country" {
			if near := c.served.Bound.NearCodes(text); len(near) == 1 {
				codes = append(codes, near[0])
				continue
			}
		}
		if err != nil || len(found.Results) == 0 {
			return nil, err
		}
		n := 0
		for _, r := range found.Results {
			if r.Whole {
				n++
			}
			if r.Whole && !slices.Contains(codes, r.Code) {
				codes = append(codes, r.Code)
			}
		}
		switch {
		case n > 0:
		case kind == "country" && len(found.Results) > 1:
			return nil, nil
		default:
			codes = append(codes, found.Results[0].Code)
		}
	}
	return codes, nil
}
