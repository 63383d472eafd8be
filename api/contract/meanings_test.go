package contract

import (
	"strings"
	"testing"
)

// TestMeanings finds fields without a meaning, and meanings that no field has.
func TestMeanings(t *testing.T) {
	used := map[string]bool{}
	for i := range Endpoints {
		e := &Endpoints[i]
		for _, f := range e.Fields {
			text := e.Meaning(f.Name)
			if !strings.HasSuffix(text, ".") {
				t.Errorf("%s, field %s: meaning %q is no sentence", e.Name(), f.Name, text)
			}
			key := e.Table + "." + f.Name
			if _, own := meanings[key]; !own {
				key = f.Name
			}
			used[key] = true
		}
	}
	for key := range meanings {
		if !used[key] {
			t.Errorf("no field has the meaning %q", key)
		}
	}
}

// TestAboutFilters wants what a filter is about in the description of each filter.
func TestAboutFilters(t *testing.T) {
	used := map[string]bool{}
	for i := range Endpoints {
		e := &Endpoints[i]
		p := NewPlan(e, Rows)
		for j := range p.Params {
			param := &p.Params[j]
			about := e.About(param)
			if !strings.HasSuffix(about, ".") {
				t.Errorf("%s, parameter %s: %q is no sentence", e.Name(), param.Name, about)
			}
			used[param.Name] = true
			filter := len(param.Columns) > 0 && param.Type != Day && !param.IsLevel()
			if filter && about == param.Describe() {
				t.Errorf("%s, parameter %s: the description %q says only how it matches", e.Name(), param.Name, about)
			}
		}
	}
	for name := range filterOnly {
		if !used[name] {
			t.Errorf("no endpoint has the filter %q", name)
		}
	}
}

// TestAddingUp wants a note for every endpoint whose records have a place or a period and a figure.
func TestAddingUp(t *testing.T) {
	known := map[string]bool{}
	for i := range Endpoints {
		e := &Endpoints[i]
		known[e.Table] = true
		if e.Group() != "metadata" && e.AddingUp() == "" {
			t.Errorf("%s: nothing says how its figures are added up", e.Name())
		}
	}
	for table := range addingUp {
		if !known[table] {
			t.Errorf("no endpoint has the table %q", table)
		}
	}
}
