//go:build !race

package figures_test

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// TestChangesOfPricesByStart: prices run from the 15th to the 14th. That of the month before, which
// also ends in the month that is compared, is no part of the figure or of its period.
func TestChangesOfPricesByStart(t *testing.T) {
	t.Parallel()
	tables := apitest.FigureTables(t)
	apitest.AddRows(t, tables, `
only food_price
SDN 2023-10-15..2023-11-14; market_code=1; commodity_code=rice; currency_code=SDG; unit=KG; price=1000
SDN 2023-11-15..2023-12-14; market_code=1; commodity_code=rice; currency_code=SDG; unit=KG; price=100
SDN 2024-10-15..2024-11-14; market_code=1; commodity_code=rice; currency_code=SDG; unit=KG; price=1
SDN 2024-11-15..2024-12-14; market_code=1; commodity_code=rice; currency_code=SDG; unit=KG; price=150
# No price of salt begins in November.
SDN 2023-10-15..2023-12-14; market_code=1; commodity_code=salt; currency_code=SDG; unit=KG; price=7
SDN 2024-11-15..2024-12-14; market_code=1; commodity_code=salt; currency_code=SDG; unit=KG; price=9`)
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	records, _ := apitest.Records(t, s, "/api/v2/figures/price_change_in_a_year?location_code=SDN")
	r := records[0]
	got := fmt.Sprint(r["value"], " ", r["rows"], " ", r["period_start"], " ", r["period_end"])
	testkit.Equal(t, got, "50.0 1 2024-11-15T00:00:00 2024-12-14T23:59:59", "")
	prices := [2]string{}
	for i, month := range []string{"2024-11", "2023-11"} {
		groups, _ := apitest.Records(t, s, r["request"].([]any)[i].(string))
		for _, g := range groups {
			if g["month"] == month && g["commodity_code"] == "rice" {
				prices[i] += fmt.Sprint(g["mean_price"], " ")
			}
		}
	}
	testkit.Equal(t, prices, [2]string{"150.0 ", "100.0 "}, "the requests give the prices")
}

// needsEnd are the figures and places whose requests have an end date because of the rows of
// testdata/future.txt. Of lists with one newest period for all places these are all places.
func needsEnd(figure, place string) bool {
	switch figure {
	case "refugees_by_asylum", "refugees_by_origin":
		return true
	case "population":
		return place == "MLI"
	case "poverty_headcount":
		return place == "HTI"
	case "overall_risk":
		return place == "AFG"
	case "funding_received_all":
		return place == "SDN"
	}
	return false
}

// TestNoFigureOfTheFuture adds rows that start after the snapshot's day. Nothing of any figure
// differs but the end date in requests that would be of these rows, and requests give the same
// numbers.
func TestNoFigureOfTheFuture(t *testing.T) {
	t.Parallel()
	without, with := apitest.FigureTables(t), apitest.FigureTables(t)
	for _, tables := range [][]*apitest.Table{without, with} {
		apitest.AddRows(t, tables, `
table food_price
SDN 2025-11-15..2025-12-14; market_code=1; commodity_code=rice; currency_code=SDG; unit=KG; price=4
SDN 2026-11-15..2026-12-14; market_code=1; commodity_code=rice; currency_code=SDG; unit=KG; price=5`)
	}
	apitest.AddRows(t, with, string(testkit.ReadFile(t, "testdata/future.txt")))
	o := state.Options{Identifier: state.IgnoreIdentifier}
	a, b := apitest.Server(t, o, without), apitest.Server(t, o, with)
	for _, query := range []string{"", "&end_date=2300", "&end_date=2024-06-30"} {
		was, _ := apitest.Records(t, a, "/api/v2/figures?location_code=%25"+query)
		is, _ := apitest.Records(t, b, "/api/v2/figures?location_code=%25"+query)
		if len(was) != len(is) || len(is) == 0 {
			t.Fatalf("%d and %d records", len(was), len(is))
		}
		for i, r := range is {
			name := fmt.Sprint(r["figure"], " of ", r["location_code"], query)
			request, old := fmt.Sprint(r["request"]), fmt.Sprint(was[i]["request"])
			ended := query != "&end_date=2024-06-30" && needsEnd(r["figure"].(string), r["location_code"].(string))
			if isPlain := strings.HasPrefix(request, "/"); ended != (request != old) && isPlain {
				t.Errorf("%s: the request is %s, without the rows %s", name, request, old)
			}
			if ended && !strings.Contains(request, "end_date=2026-11-20") {
				t.Errorf("%s: the request has no end date: %s", name, request)
			}
			for _, field := range slices.Sorted(maps.Keys(r)) {
				if differs := fmt.Sprint(r[field]) != fmt.Sprint(was[i][field]); differs && field != "request" &&
					(field != "reason" || r[field] == nil) {
					t.Errorf("%s: %s is %v, without the rows %v", name, field, r[field], was[i][field])
				}
			}
			if u, err := url.Parse(request); r["value"] != nil && err == nil && strings.HasPrefix(request, "/") {
				again, _ := apitest.Records(t, b, u.String())
				for _, value := range again[0] {
					testkit.Equal(t, value, r["value"], "%s: the value of %s", name, request)
				}
			}
		}
	}
	price, _ := apitest.Records(t, b, "/api/v2/figures/price_change_in_a_year?location_code=SDN")
	if got := fmt.Sprint(price[0]["value"], price[0]["request"]); !strings.HasPrefix(got, "25.0") ||
		!strings.Contains(got, "end_date=2026-11-20&") {
		t.Errorf("the change of prices is %s", got)
	}
}

// TestProvisional checks which months answers call provisional, for each way to get a body.
func TestProvisional(t *testing.T) {
	t.Parallel()
	within := time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, apitest.ProvisionalTables(t, within))
	const conflict, rainfall = "/api/v2/coordination-context/conflict-events", "/api/v2/climate/rainfall"
	for target, want := range map[string]string{
		conflict:                                       "2026-08",
		conflict + "?output_format=csv":                "2026-08",
		"/hapi" + conflict:                             "2026-08",
		conflict + "?location_code=MLI":                "",
		conflict + "?end_date=2026-07":                 "",
		conflict + "?limit=1":                          "",
		conflict + "?limit=1&offset=1":                 "2026-08",
		conflict + "?limit=0":                          "",
		conflict + "?fields=events":                    "2026-08",
		conflict + "/aggregate?group_by=month":         "2026-08",
		conflict + "/aggregate?location_code=MLI":      "",
		conflict + "/aggregate?group_by=month&limit=1": "2026-08",
		rainfall:                                     "2026-07, 2026-08",
		rainfall + "?version=final":                  "",
		rainfall + "?version=forecast":               "2026-08",
		"/api/v2/coordination-context/national-risk": "",
	} {
		for range 3 { // the second one is kept, the third one comes from the cache
			a := s.Answer("GET", target, apitest.Fields("Accept-Encoding", "gzip"))
			if got := apitest.Header(a, contract.HeaderProvisional); a.Status != 200 || got != want {
				t.Errorf("%s: %d, %q, want %q", target, a.Status, got, want)
			}
			if head := s.Answer("HEAD", target, nil); apitest.Header(head, contract.HeaderProvisional) != want {
				t.Errorf("HEAD %s: %q", target, apitest.Header(head, contract.HeaderProvisional))
			}
		}
	}
	after := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier},
		apitest.ProvisionalTables(t, time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)))
	a, b := s.Answer("GET", conflict, nil), after.Answer("GET", conflict, nil)
	if apitest.Header(b, contract.HeaderProvisional) != "" || apitest.Header(a, "ETag") == apitest.Header(b, "ETag") ||
		string(a.Body) != string(b.Body) {
		t.Errorf("the same rows, all of months that had ended: %q, tags %s and %s",
			apitest.Header(b, contract.HeaderProvisional), apitest.Header(a, "ETag"), apitest.Header(b, "ETag"))
	}
}
