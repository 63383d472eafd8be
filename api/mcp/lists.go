package mcp

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/api/textual"
)

// usualMeasures are those of a request that names none.
var usualMeasures = []string{aggregate.Count.String()}

// records asks a request, of a list or of figures, and begins the answer.
func (c *call) records(
	e *contract.Endpoint, p *contract.Plan, pairs ...string,
) (*Answer, *contract.Question, []textual.Record, error) {
	q, hint, err := c.parse(p, pairs)
	if err != nil {
		return nil, nil, nil, err
	}
	found, err := c.ask(q, true)
	if err != nil {
		return nil, nil, nil, err
	}
	a := &Answer{Units: map[string]string{}, URL: c.address(p.Paths()[0], pairs...)}
	notes := &found.notes
	a.Rows, a.Total, a.Partial = found.json, found.total, strings.Join(notes.Provisional, ", ")
	a.Coverage = notes.CoverageText()
	a.warn(hint)
	a.warn(notes.Hints...)
	if e != nil {
		a.List = e.Name()
		for _, f := range e.Figures {
			if f.Use != contract.Label {
				a.Units[f.Field] = unitOf(e, f.Field)
			}
		}
	}
	return a, q, found.texts, nil
}

// unitOf is the unit of a field, or what it counts or is.
func unitOf(e *contract.Endpoint, field string) string {
	unit := e.Texts().Unit(field)
	if f := e.Figure(field); f != nil {
		unit = cmp.Or(unit, f.Noun)
	}
	return unit
}

// rows answers with records of a list, or for aggregate with groups of them.
func rows(c *call) (*Answer, error) {
	e, filters, err := c.filters()
	if err != nil {
		return nil, err
	}
	measures, kind, usual := c.args.Measures, contract.Rows, 50
	isSum := c.tool == "aggregate"
	if isSum {
		kind, usual = contract.Aggregate, 200
		if len(measures) == 0 {
			measures = usualMeasures
		}
	}
	if slices.Contains(slices.Concat(c.args.Fields, c.args.GroupBy, measures), "") {
		return nil, &refusal{Message: "fields, group_by or measures has an empty name; want names, or leave it out"}
	}
	pairs := append(c.args.parameters(filters, usual), "fields", strings.Join(c.args.Fields, ","),
		"group_by", strings.Join(c.args.GroupBy, ","), "measures", strings.Join(measures, ","))
	a, q, _, err := c.records(e, contract.PlanOf(e, kind), pairs...)
	if err != nil {
		return nil, err
	}
	s, err := c.scopeOf(q)
	if err != nil {
		return nil, err
	}
	if isSum {
		a.Records, a.Units = &s.records, unitsOf(e, measures)
	} else if a.warn(s.hints...); len(s.Levels) > 1 && !q.Has(levelField) && e.HasPeriod() {
		a.Warnings = append(a.Warnings, "these records are of several admin levels: those of a country or province "+
			"contain those of its parts. Do not add them up; the call in instead keeps each place once")
		a.Instead = c.withFilter(levelField, contract.Coarsest)
	}
	if s.records == 0 {
		a.Total, a.Rows = 0, nil // a sum of nothing is no number
		return a, c.nothing(a, q, filters)
	}
	return a, c.describe(a, q, filters, s)
}

// unitsOf are the units of measures, by the fields of their values.
func unitsOf(e *contract.Endpoint, measures []string) map[string]string {
	units := map[string]string{}
	for _, m := range measures {
		function, field, _ := strings.Cut(m, ":")
		switch name := strings.Replace(m, ":", "_", 1); {
		case field == "":
			units[name] = "records"
		case function == "distinct":
			units[name] = "different values"
		case unitOf(e, field) != "":
			units[name] = unitOf(e, field)
		}
	}
	return units
}

// changes answers with what changed in a list since a snapshot.
func changes(c *call) (*Answer, error) {
	e, filters, err := c.filters()
	if err != nil {
		return nil, err
	}
	held := c.of.Sources(c.served, e.Name())
	since := c.args.Since
	if since == "" && len(held.Earlier) > 0 {
		since = held.Earlier[0]
	}
	every := func(*state.SourceDataset) bool { return true }
	if since == "" || since == held.Snapshot {
		a := &Answer{List: e.Name(), URL: c.address(state.SourcesPath, "list", e.Name())}
		a.Nothing = &nothing{Statement: "no earlier snapshot is held here to compare " + held.Snapshot + ", loaded " +
			held.Loaded + ", with. Keep its id, and ask for changes since it later"}
		c.cite(a, e, every)
		return a, nil
	}
	c.sent["since"] = since // of the next page too
	pairs := append(c.args.parameters(filters, 50), contract.SinceParam, since)
	a, _, _, err := c.records(e, contract.PlanOf(e, contract.Changes), pairs...)
	if refused, ok := errors.AsType[*refusal](err); ok && len(held.Earlier) > 0 {
		refused.Message += "; snapshots that are held: " + strings.Join(held.Earlier, ", ")
	}
	if err != nil {
		return nil, err
	}
	if a.Total == 0 {
		a.Nothing = &nothing{Statement: "no such record of " + e.Name() + " has changed since " + since}
	}
	c.cite(a, e, every)
	return a, nil
}

// source answers with the sources of a list, or with all lists.
func source(c *call) (*Answer, error) {
	if c.args.List != "" {
		e, err := c.list()
		if err != nil {
			return nil, err
		}
		c.args.List = e.Name()
	}
	all := c.of.Sources(c.served, c.args.List)
	a := &Answer{URL: c.address(state.SourcesPath, "list", c.args.List)}
	for _, l := range all.Lists {
		if c.args.List == "" {
			l.Datasets = nil
			a.Rows = append(a.Rows, marshal(l))
			continue
		}
		a.List, a.Updated, a.Stale = l.List, timeText(l.Updated), timeText(l.StaleSince)
		for _, d := range l.Datasets {
			parts := []string{d.Publisher, d.Title, timeText(d.Updated), d.License, d.Link, "snapshot " + all.Snapshot}
			parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
			a.Rows = append(a.Rows, marshal(struct {
				state.SourceDataset
				Citation string `json:"citation"`
			}{d, strings.Join(parts, ". ")}))
		}
	}
	a.Total = len(a.Rows)
	a.Rows = a.Rows[min(c.args.Offset, a.Total):]
	if a.Total == 0 {
		a.Nothing = &nothing{Statement: "no dataset of the catalog is known as the source of " + c.args.List}
	}
	return a, nil
}
