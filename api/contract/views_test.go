package contract

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

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
