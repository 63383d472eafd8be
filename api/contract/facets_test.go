package contract

import (
	"errors"
	"slices"
	"strings"
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

// TestFacetNames checks how the parameter of is read: under both names, from all occurrences, each
// field once, in the order asked for.
func TestFacetNames(t *testing.T) {
	const security = "/api/v2/food-security-nutrition-poverty/food-security"
	plain, hapi := facetsPlan(ContractNames, security), facetsPlan(HAPINames, security)
	for _, c := range []struct {
		plan  *Plan
		want  string
		forms []string
	}{
		{plain, "of=location_code%2Cyear", []string{
			"of=location_code,year", "of=location_code&of=year", "of=location_code%2cyear&of=location_code,year",
		}},
		{plain, "of=year%2Clocation_code", []string{"of=year,location_code,year", "of=year&of=location_code"}},
		{plain, "of=classification_phase%2Cmonth%2Cquarter", []string{
			"of=classification_phase,month,quarter", "of=ipc_phase,month,quarter",
			"of=ipc_phase&of=classification_phase,month,quarter",
		}},
		{hapi, "of=ipc_phase", []string{"of=classification_phase", "of=ipc_phase"}},
		{plain, "has_hrp=true&limit=5&of=reference_period_start", []string{
			"of=reference_period_start&limit=5&has_hrp=1",
		}},
	} {
		for _, form := range c.forms {
			if got, ok := canonicalOf(t, c.plan, form); !ok || got != c.want {
				t.Errorf("%q: canonical form %q (valid: %v), want %q", form, got, ok, c.want)
			}
		}
		checkCanonical(t, c.plan, c.want)
	}
}

// TestFacetFaults checks that a field that does not exist, and none at all, are errors that name
// the choices.
func TestFacetFaults(t *testing.T) {
	const choices = "id, code, name, has_hrp, in_gho, from_cods, reference_period_start, reference_period_end, " +
		"year, quarter, month"
	location := facetsPlan(ContractNames, "/api/v2/metadata/location")
	security := facetsPlan(HAPINames, "/api/v2/food-security-nutrition-poverty/food-security")
	for _, c := range []struct {
		plan  *Plan
		query string
		kind  string
		texts []string
	}{
		{location, "", "missing", []string{"Field required", choices}},
		{location, "code=AFG", "missing", []string{choices}},
		{location, "of=", "too_short", []string{"at least 1 value", choices}},
		{location, "of=code&of=", "too_short", []string{choices}},
		{location, "of=code,,name", "value_error", []string{"value 2 of the list is empty"}},
		{location, "of=codes", "value_error", []string{`"codes" is no field`, "did you mean code?", choices}},
		{location, "of=code,from_cod", "value_error", []string{"did you mean from_cods?"}},
		{location, "of=code__in", "value_error", []string{`"code__in" is no field`}},
		{location, "of=latitude_of_the_place", "value_error", []string{"no field of the records. Choices: " + choices}},
		{location, "of=Year", "value_error", []string{"did you mean year?"}},
		{security, "of=ipc_fase", "value_error", []string{"did you mean ipc_phase?"}},
		{
			facetsPlan(ContractNames, "/api/v2/metadata/sector"), "of=year", "value_error",
			[]string{`"year" is no field`, "Choices: code, name"},
		},
	} {
		var r Request
		r.Scan(c.plan, []byte(c.query))
		err := r.Parse()
		invalid, ok := errors.AsType[*Invalid](err)
		if !ok || len(invalid.Issues) != 1 || invalid.Issues[0].Type != c.kind || invalid.Issues[0].Param != "of" {
			t.Errorf("%q: %v", c.query, err)
			continue
		}
		for _, text := range c.texts {
			if !strings.Contains(invalid.Issues[0].Text, text) {
				t.Errorf("%q: %s, want %s", c.query, invalid.Issues[0].Text, text)
			}
		}
	}
	many := "of=" + strings.Repeat("code,", MaxValues) + "code"
	var r Request
	r.Scan(location, []byte(many))
	if err := r.Parse(); err == nil || !strings.Contains(err.Error(), "at most 200 values") {
		t.Errorf("%d names: %v", MaxValues+1, err)
	}
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
