package contract

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestFigures wants the use of every number of every record, and no other field's.
func TestFigures(t *testing.T) {
	for i := range Endpoints {
		e := &Endpoints[i]
		seen := map[string]bool{}
		for _, f := range e.Figures {
			if seen[f.Field] || f.Use < Added || f.Use > Label || f.Noun == "" {
				t.Errorf("%s: figure %+v is a duplicate or incomplete", e.Name(), f)
			}
			seen[f.Field] = true
		}
		for _, f := range e.Fields {
			number := f.Type == Integer || f.Type == Number
			testkit.Equal(t, number, seen[f.Name], "%s: field %s is a number; its use is declared", e.Name(), f.Name)
			delete(seen, f.Name)
		}
		for name := range seen {
			t.Errorf("%s: figure %s is no field", e.Name(), name)
		}
	}
}

// TestDimensions: where records have an amount or an average, each of their fields is declared as a
// figure, as a dimension, or as one that has the same values under another name.
func TestDimensions(t *testing.T) {
	for i := range Endpoints {
		e := &Endpoints[i]
		seen := map[string]bool{}
		for _, d := range e.Dimensions {
			total := d.Kind == Totals
			if d.Kind < Parts || d.Kind > Yearly || total != (d.Totals != nil) || d.Ranges && !total {
				t.Errorf("%s: dimension %+v is inconsistent", e.Name(), d)
			}
			for _, name := range append([]string{d.Field}, d.Also...) {
				if seen[name] || !e.HasField(name) {
					t.Errorf("%s: dimension field %s is a duplicate or no field", e.Name(), name)
				}
				seen[name] = true
			}
			for _, w := range d.Totals {
				e.checkTotal(t, &d, w)
			}
			hasAll := func(f Field) bool { return f.Name == d.Field && f.Enum != nil && f.Enum.has("all") }
			if d.Kind == Parts && slices.ContainsFunc(e.Fields, hasAll) {
				t.Errorf("%s: the values of %s are parts, and one is all: declare it as totals", e.Name(), d.Field)
			}
		}
		declared := slices.ContainsFunc(e.Figures, func(f Figure) bool { return f.Use == Added || f.Use == Averaged })
		if declared != (e.Dimensions != nil) {
			t.Errorf("%s: amounts or averages: %t; dimensions: %d", e.Name(), declared, len(e.Dimensions))
		}
		for _, f := range e.Fields {
			figure := e.Figure(f.Name)
			summed := figure != nil && figure.Use != Label
			if declared && seen[f.Name] == summed {
				t.Errorf("%s: field %s is a dimension: %t; figure %+v", e.Name(), f.Name, seen[f.Name], figure)
			}
		}
	}
}

// checkTotal wants values that the field can have.
func (e *Endpoint) checkTotal(t *testing.T, d *Dimension, w Total) {
	t.Helper()
	at := slices.IndexFunc(e.Fields, func(f Field) bool { return f.Name == d.Field })
	for _, value := range append([]string{w.Value}, w.Parts...) {
		if enum := e.Fields[at].Enum; enum != nil && !enum.has(value) {
			t.Errorf("%s: %s has no value %s", e.Name(), d.Field, value)
		}
	}
}

// TestKeyColumns wants keys that mean the same in every load, with a date where rows have one.
func TestKeyColumns(t *testing.T) {
	for i := range Endpoints {
		e := &Endpoints[i]
		columns := map[string]bool{}
		for _, f := range e.Fields {
			columns[f.Name] = true
		}
		for _, p := range e.Filters() {
			for _, column := range p.Columns {
				columns[column] = true
			}
		}
		if len(e.Key) == 0 {
			t.Errorf("%s: no key", e.Name())
		}
		for _, column := range e.Key {
			if !columns[column] || column == "id" || strings.HasSuffix(column, "_ref") {
				t.Errorf("%s: key column %s does not exist, or changes with every load", e.Name(), column)
			}
		}
		for _, column := range e.Rounds {
			if !slices.Contains(e.Key, column) {
				t.Errorf("%s: round %s is not in the key", e.Name(), column)
			}
		}
		series := e.Series()
		testkit.Equal(t, e.Group() != "metadata", (series != nil), "%s: series %v", e.Name(), series)
		if slices.Contains(series, PeriodStart) || slices.Contains(series, "reporting_round") {
			t.Errorf("%s: a date in the series %v", e.Name(), series)
		}
	}
}

// TestAddingUpAgrees compares the advice in words with the declarations: the advice names each
// field over which figures must not be added.
func TestAddingUpAgrees(t *testing.T) {
	words := map[string]string{
		"sector_code": "Never add over sectors", "category": "categories", "population_status": "population statuses",
		"reporting_round": "latest reporting round", "assessment_type": "one assessment type",
		"classification_type": "one classification_type", "classification_phase": "3+", "gender": "gender=all",
		"age_range": "age_range=all", "event_type": "event types", "admin_level": "admin_level",
		"commodity_code": "commodity", "currency_code": "currency", "unit": "unit", "price_flag": "price flag",
		"price_type": "price type", "aggregation_period": "3-month", "version": "version",
		"population_group": "of one population_group", "operation": "one operation",
	}
	for i := range Endpoints {
		e := &Endpoints[i]
		advice := e.Texts().AddingUp()
		for _, d := range e.Dimensions {
			word := cmp.Or(words[d.Field], d.Field)
			switch d.Kind {
			case Parts, Flow:
				continue
			case Stock, Yearly:
				word = "year"
				if !strings.Contains(advice, word) {
					word = "date"
				}
				if !strings.Contains(advice, word) {
					word = "period"
				}
			}
			testkit.Contains(t, advice, word, "%s: the advice on %s", e.Name(), d.Field)
		}
	}
}

// TestHeadlines checks that each headline figure is declared whole, and asks its list for what the
// list has, in both sets of names.
func TestHeadlines(t *testing.T) {
	strict := json.NewDecoder(bytes.NewReader(headlinesText))
	strict.DisallowUnknownFields()
	testkit.Is(t, strict.Decode(new([]Headline)), nil, "Decode")
	seen := map[string]bool{}
	for _, h := range Headlines {
		if seen[h.Name] {
			t.Errorf("%s is declared twice", h.Name)
		}
		seen[h.Name] = true
		if !slices.ContainsFunc(Endpoints, func(e Endpoint) bool { return e.Path == h.Path && e.HasField(h.Place) }) {
			t.Fatalf("headlines.json: %s is of %s by %s, which no list has", h.Name, h.Path, h.Place)
		}
		for name, text := range map[string]string{
			"title": h.Title, "unit": h.Unit, "time": string(h.Newest), "reading": h.Reading,
			"what it is not": h.NotThis,
		} {
			if text == "" {
				t.Errorf("%s has no %s", h.Name, name)
			}
		}
		if len(h.Measures) != 2 && (len(h.Measures) != 1 || h.Weight != "") {
			t.Errorf("%s has %d measures", h.Name, len(h.Measures))
		}
		kept, err := url.ParseQuery(h.Filters)
		testkit.Is(t, err, nil, "%s", h.Name)
		if h.Series != "" && len(h.Measures) != 1 {
			t.Errorf("%s has a series of %d measures", h.Name, len(h.Measures))
		}
		for set := range NameSet(2) {
			groups := append(append([]string{h.Place}, h.Groups...), strings.Fields(h.Series)...)
			query := url.Values{groupParam: {strings.Join(groups, ",")}}
			query.Set(measureParam, strings.Join(h.Measures, ","))
			for name := range kept {
				query.Set(set.Name(name), kept.Get(name))
			}
			if h.Newest == NewestEdition {
				query.Set(LatestParam, LatestEdition)
			}
			var r Request
			r.Scanned.Scan(NewPlan(h.List(set), Aggregate), []byte(query.Encode()))
			if err := r.Parse(); err != nil || r.Scanned.UnknownCount() > 0 {
				t.Errorf("%s in %s names: %v, unknown %q", h.Name, set, err, r.Scanned.UnknownNames())
			}
		}
	}
}

// TestFigureTexts checks that every field of a figure's record is described.
func TestFigureTexts(t *testing.T) {
	for _, f := range headlinesOfPlace {
		if figureTexts[f.Name] == "" {
			t.Errorf("the field %s of figures is not described", f.Name)
		}
	}
	for _, f := range historyFields {
		if wasTexts[f.Name] == "" {
			t.Errorf("the field %s of what figures were is not described", f.Name)
		}
	}
	testkit.Equal(t, len(wasTexts), len(historyFields), "described fields")
	testkit.Equal(t, len(figureTexts), len(headlinesOfPlace), "described fields")
}

// TestFiguresRefuseFilters: what would choose other rows of a list is an error of a headline
// figure, in both sets of names. Other unknown parameters are ignored, as everywhere.
func TestFiguresRefuseFilters(t *testing.T) {
	for set := range NameSet(2) {
		refused := 0
		for i := range FigureEndpoints[set] {
			plan := NewPlan(&FigureEndpoints[set][i], Rows)
			for k := range EndpointsIn(set) {
				for _, name := range NewPlan(&EndpointsIn(set)[k], Rows).names {
					var r Request
					r.Scanned.Scan(plan, []byte(name+"=1&nothing=1"))
					var invalid *Invalid
					isOne := func(i Issue) bool { return i.Type == "extra_forbidden" && i.Param == name }
					isFault := errors.As(r.Parse(), &invalid) && slices.ContainsFunc(invalid.Issues, isOne)
					if isFault == plan.Knows(name) {
						t.Errorf("%s: %s is refused: %t", plan.Endpoint.Path, name, isFault)
					}
					if isFault {
						refused++
					}
				}
			}
			var r Request
			r.Scanned.Scan(plan, []byte("sector_code=&nothing=1"))
			if err := r.Parse(); err != nil || r.Scanned.UnknownCount() != 2 {
				t.Errorf("%s: %v, %d unknown", plan.Endpoint.Path, err, r.Scanned.UnknownCount())
			}
		}
		if refused == 0 {
			t.Error("nothing is refused")
		}
	}
}

// TestViews: a view is of a list that exists, its figures are of that list, and its drawings have
// names that requests for aggregates of the list take.
func TestViews(t *testing.T) {
	t.Parallel()
	for _, v := range Views {
		at := slices.IndexFunc(Endpoints, func(e Endpoint) bool { return e.Path == v.Path })
		if at < 0 || Endpoints[at].View() == nil {
			t.Fatalf("%s: no such list", v.Path)
		}
		e, figures := &Endpoints[at], slices.Clone(v.Figures)
		plan := NewPlan(e, Aggregate)
		names := e.GroupNames()
		fields := slices.Clone(v.Choose)
		for _, d := range v.Drawings {
			if d.Figure != "" {
				figures = append(figures, d.Figure)
				continue
			}
			fields = slices.Concat(fields, []string{d.By}, d.Group, d.Lines)
			filters, err := url.ParseQuery(d.Filters)
			for name := range filters {
				if err != nil || !plan.Knows(name) {
					t.Errorf("%s: filter %s, %v", v.Path, name, err)
				}
			}
			for _, m := range d.Measures {
				if _, field, _ := strings.Cut(m, ":"); !slices.Contains(names, field) {
					t.Errorf("%s: measure %s", v.Path, m)
				}
			}
			if len(d.Names) > 0 && len(d.Names) != len(d.Measures) {
				t.Errorf("%s: %d names of %d lines", v.Path, len(d.Names), len(d.Measures))
			}
		}
		for _, name := range figures {
			if h, _ := HeadlineOf(name, ContractNames); h == nil || h.Path != v.Path {
				t.Errorf("%s: figure %s", v.Path, name)
			}
		}
		for _, field := range fields {
			if !slices.Contains(names, field) {
				t.Errorf("%s: field %s", v.Path, field)
			}
		}
	}
}
