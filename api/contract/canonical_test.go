package contract

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// canonicalOf returns the canonical form of a query; ok is false when the query is invalid.
func canonicalOf(t *testing.T, p *Plan, query string) (form string, ok bool) {
	t.Helper()
	var r Request
	r.Scan(p, []byte(query))
	if r.Parse() != nil {
		return "", false
	}
	return string(r.AppendCanonical(nil)), true
}

// TestCanonical checks that queries with the same meaning have the same canonical form.
func TestCanonical(t *testing.T) {
	prices := planOf("/api/v2/food-security-nutrition-poverty/food-prices-market-monitor")
	risk := planOf("/api/v2/coordination-context/national-risk")
	resources := planOf("/api/v2/metadata/resource")
	for _, c := range []struct {
		plan  *Plan
		want  string
		forms []string
	}{
		{prices, "", []string{
			"", "&&", "limit=10000&offset=0&output_format=json", "limit=%2B1_0000.0&offset=-0",
			"app_identifier=x", "location_code=", "start_date=", "x=y",
		}},
		{prices, "limit=10", []string{
			"limit=10", "limit=010", "limit=+10+", "limit=10.0", "limit=3&limit=10",
			"limi%74=1%30",
		}},
		{prices, "offset=18446744073709551615", []string{"offset=9223372036854775808", "offset=99999999999999999999"}},
		{prices, "output_format=csv", []string{"output_format=csv", "output_format=json&output_format=csv"}},
		{
			prices, "has_hrp=true&in_gho=false",
			[]string{"has_hrp=1&in_gho=0", "in_gho=No&has_hrp=TRUE", "in_gho=off&has_hrp=y"},
		},
		{prices, "location_code=AFG&location_name=a%20b%26%C3%A9", []string{
			"location_code=AFG&location_name=a+b%26%c3%a9", "location_name=a%20b%26%C3%A9&location_code=%41FG",
			"location_name=a+b%26é&location_code=AFG",
		}},
		{
			prices, "price_max=1.5&price_min=-0.25",
			[]string{
				"price_max=1.50&price_min=-.25", "price_min=-25e-2&price_max=+0_1.5",
				"price_max=15E-1&price_min=-0.250",
			},
		},
		{prices, "price_min=1e1000", []string{"price_min=1e1000", "price_min=1E2000", "price_min=1000e997"}},
		{
			prices, "price_min=-12e-40",
			[]string{"price_min=-12e-40", "price_min=-0.00000000000000000000000000000000000000120"},
		},
		{prices, "end_date=2025-01-01T00%3A00%3A00", nil},
		{prices, "end_date=2024-01-01T00:00:00&start_date=2023-05-01T00:00:00", []string{
			"start_date=2023-05&end_date=2023", "end_date=2023-12-31&start_date=2023-05-01",
			"end_date=2024-01-01T00:00:00&start_date=2023-05-01T00%3A00%3A00",
		}},
		{prices, "end_date=9998", []string{"end_date=9998"}},
		{
			risk, "overall_risk_max=inf&overall_risk_min=0.5",
			[]string{"overall_risk_min=.5&overall_risk_max=1e999", "overall_risk_max=Infinity&overall_risk_min=5e-1"},
		},
		{risk, "overall_risk_max=nan&overall_risk_min=0", []string{"overall_risk_max=-NaN&overall_risk_min=-0.0"}},
		{risk, "overall_risk_min=1e21", []string{"overall_risk_min=1e21", "overall_risk_min=1e%2B21"}},
		{risk, "global_rank_min=-9223372036854775809", []string{"global_rank_min=-99999999999999999999"}},
		{
			resources, "update_date_min=1970-01-01T00:33:43",
			[]string{
				"update_date_min=2023", "update_date_min=1970-01-01T02:33:43%2B02:00",
				"update_date_min=1970-01-01_00:33:43.000Z",
			},
		},
		{
			resources, "update_date_min=2023-01-01T00:00:00.250000",
			[]string{"update_date_min=2023-01-01+00:00:00.25", "update_date_min=1672531200.25"},
		},
	} {
		for _, form := range c.forms {
			if got, ok := canonicalOf(t, c.plan, form); !ok || got != c.want {
				t.Errorf("%q: canonical form %q (valid: %v), want %q", form, got, ok, c.want)
			}
		}
		if c.forms != nil {
			checkCanonical(t, c.plan, c.want)
		}
	}
}

// checkCanonical parses a query and its canonical form. Both must have the same filters, the same
// page and the same canonical form.
func checkCanonical(t *testing.T, p *Plan, query string) {
	t.Helper()
	var first, again Request
	first.Scan(p, []byte(query))
	if first.Parse() != nil {
		return
	}
	canonical := first.AppendCanonical(nil)
	again.Scan(p, canonical)
	if err := again.Parse(); err != nil {
		t.Fatalf("%q: the canonical form %q is rejected: %v", query, canonical, err)
	}
	if twice := again.AppendCanonical(nil); !bytes.Equal(twice, canonical) {
		t.Fatalf("%q: the canonical form is %q, and the canonical form of that %q", query, canonical, twice)
	}
	text := func(r *Request) string {
		var filters []string
		for _, f := range r.Filters {
			v := fmt.Sprint(f.Param, f.Value.Text, f.Value.Int, f.Value.Beyond, f.Value.Float+0, f.Value.Exact,
				f.Values)
			filters = append(filters, v)
		}
		slices.Sort(filters)
		return fmt.Sprint(filters, r.Limit, min(r.Offset, 1<<62), r.CSV)
	}
	if a, b := text(&first), text(&again); a != b && !strings.Contains(a, "-0") {
		t.Fatalf("%q: the canonical form %q means something else:\n%s\n%s", query, canonical, a, b)
	}
}

// FuzzCanonical checks that a canonical form has the meaning of its query and is its own canonical
// form.
func FuzzCanonical(f *testing.F) {
	for i := range Endpoints {
		for _, param := range NewPlan(&Endpoints[i], Rows).Params {
			f.Add(uint8(i), param.Name+"="+url.QueryEscape(param.Example())+"&"+param.Name+"=%20&limit=03&offset=7")
		}
	}
	f.Add(uint8(22), `price_flag__in=actual\,aggregate,actual&location_code__in=%25A,\&location_code__in=b\,c&location_code=x,y`)
	f.Add(uint8(0), `dataset_hdx_id__in=a\\,b\&dataset_catalog_id__in=b\\,a%5C`)
	f.Add(uint8(0), "update_date_min=-62135596800&update_date_max=253402300799&id=%F0%9F%8C%8D&snapshot=x")
	f.Fuzz(func(t *testing.T, which uint8, query string) {
		checkCanonical(t, NewPlan(&Endpoints[int(which)%len(Endpoints)], Rows), query)
	})
}
