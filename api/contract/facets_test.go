package contract

import (
	"slices"
	"testing"
)

// facetsPlan is the plan for facets of the endpoint with a path, in a set of names.
func facetsPlan(s NameSet, path string) *Plan {
	for i := range Endpoints {
		if Endpoints[i].Path == path {
			return NewPlan(&EndpointsIn(s)[i], Facets)
		}
	}
	panic("no endpoint " + path)
}

// TestOwnFilters checks which filters are set aside for which field.
func TestOwnFilters(t *testing.T) {
	const prices = "/api/v2/food-security-nutrition-poverty/food-prices-market-monitor"
	for _, c := range []struct {
		path, name string
		want       []string
		earlier    []string // in HAPI names besides
	}{
		{prices, "location_code", []string{"location_code", "location_code__in"}, nil},
		{prices, "price", []string{"price_min", "price_max"}, nil},
		{
			prices, "month",
			[]string{"start_date", "end_date"},
			[]string{"reference_period_start_min", "reference_period_start_max"},
		},
		{
			prices, "reference_period_end",
			[]string{"start_date", "end_date"},
			[]string{"reference_period_end_min", "reference_period_end_max"},
		},
		{
			"/api/v2/food-security-nutrition-poverty/food-security", "classification_phase",
			[]string{"classification_phase", "classification_phase__in"},
			nil,
		},
		{"/api/v2/metadata/resource", "update_date", []string{"update_date_min", "update_date_max"}, nil},
		{"/api/v2/climate/rainfall", "rainfall", nil, nil},
	} {
		for s := range NameSet(2) {
			p := facetsPlan(s, c.path)
			var r Request
			r.Scan(p, []byte("of="+c.name))
			if err := r.Parse(); err != nil {
				t.Fatal(err)
			}
			var own []string
			for i := range p.Params {
				if p.Params[i].Columns != nil && r.Restricts(i, r.Of[0]) {
					own = append(own, ContractNames.Name(p.Params[i].Name))
				}
			}
			want := c.want
			if s == HAPINames {
				want = slices.Concat(c.want, c.earlier)
			}
			if !slices.Equal(own, want) {
				t.Errorf("%s, %s: %v, want %v", c.path, c.name, own, want)
			}
		}
	}
}
