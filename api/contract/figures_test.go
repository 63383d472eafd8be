package contract

import (
	"cmp"
	"slices"
	"strings"
	"testing"
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
			if number != seen[f.Name] {
				t.Errorf("%s: field %s is a number: %t; its use is declared: %t",
					e.Name(), f.Name, number, seen[f.Name])
			}
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
		if dated := e.Group() != "metadata"; dated != (series != nil) {
			t.Errorf("%s: series %v", e.Name(), series)
		}
		if slices.Contains(series, PeriodStart) || slices.Contains(series, "reporting_round") {
			t.Errorf("%s: a date in the series %v", e.Name(), series)
		}
	}
}

// TestAddingUpAgrees compares the advice in words with the declarations: the advice names each
// field over which figures must not be added.
func TestAddingUpAgrees(t *testing.T) {
	words := map[string]string{
		"sector_code": "sectors", "category": "categories", "population_status": "population statuses",
		"reporting_round": "round", "assessment_type": "assessment type", "operation": "operation",
		"classification_type": "classification_type", "classification_phase": "3+", "gender": "gender=all",
		"age_range": "age_range=all", "event_type": "event types", "admin_level": "admin_level",
		"commodity_code": "commodity", "currency_code": "currency", "unit": "unit", "price_flag": "price flag",
		"price_type": "price type", "aggregation_period": "3-month", "version": "version",
		"population_group": "population groups",
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
			if !strings.Contains(advice, word) {
				t.Errorf("%s: the advice does not speak of %s (%q): %s", e.Name(), d.Field, word, advice)
			}
		}
	}
}
