//go:build !race

package api

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"hdqs/api/state"
)

// pricesOver is a row of the prices of a market in a period that begins in one month and ends in
// the next, as most recorded prices do.
func pricesOver(country, from, to, commodity, amount string) spec {
	return with(priceOf(country, 2024, 1, "1", commodity, "SDG", amount), during(from, to))
}

// TestChangesOfPricesByStart: prices run from the 15th to the 14th. That of the month before, which
// also ends in the month that is compared, is no part of the figure or of its period.
func TestChangesOfPricesByStart(t *testing.T) {
	t.Parallel()
	tables := figureTables(t)
	setRows(t, tables, "food_price",
		pricesOver("SDN", "2023-10-15", "2023-11-14", "rice", "1000"),
		pricesOver("SDN", "2023-11-15", "2023-12-14", "rice", "100"),
		pricesOver("SDN", "2024-10-15", "2024-11-14", "rice", "1"),
		pricesOver("SDN", "2024-11-15", "2024-12-14", "rice", "150"),
		pricesOver("SDN", "2023-10-15", "2023-12-14", "salt", "7"), // no price begins in November
		pricesOver("SDN", "2024-11-15", "2024-12-14", "salt", "9"),
	)
	s := testServer(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	records, _ := figureAnswer(t, s, "/api/v2/figures/price_change_in_a_year?location_code=SDN")
	r := records[0]
	got := fmt.Sprint(r["value"], " ", r["rows"], " ", r["period_start"], " ", r["period_end"])
	if want := "50.0 1 2024-11-15T00:00:00 2024-12-14T23:59:59"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	prices := [2]string{}
	for i, month := range []string{"2024-11", "2023-11"} {
		groups, _ := figureAnswer(t, s, r["request"].([]any)[i].(string))
		for _, g := range groups {
			if g["month"] == month && g["commodity_code"] == "rice" {
				prices[i] += fmt.Sprint(g["mean_price"], " ")
			}
		}
	}
	if want := [2]string{"150.0 ", "100.0 "}; prices != want {
		t.Errorf("the requests give the prices %q, want %q", prices, want)
	}
}

// futureRows are rows that start after the day of the sample snapshot, by their tables.
func futureRows() map[string][]spec {
	late := during("2205-01-01", "2205-12-31")
	tomorrow := during("2026-11-21", "2026-11-21") // in the month of the snapshot
	event := func(place, period spec) spec {
		return with(place, period, spec{"event_type": "political_violence", "events": 1, "fatalities": 1})
	}
	return map[string][]spec{
		"population": people(with(inPlace("MLI"), late), "all all 999"),
		// Of no figure, but of the newest period of the list.
		"refugees": people(with(spec{
			"origin_location_code": "SOM", "asylum_location_code": "KEN", "population_group": "REF",
		}, late), "f all 1"),
		"conflict_event": {event(inPlace("SDN"), late), event(inPlace("SDN"), tomorrow)},
		"national_risk":  {with(spec{"location_code": "AFG"}, late, spec{"overall_risk": decimal("1")})},
		"food_price": {
			pricesOver("SDN", "2205-01-15", "2205-02-14", "rice", "1"),
			pricesOver("SDN", "2026-11-21", "2026-12-14", "rice", "1"),
		},
		"funding": {with(spec{"location_code": "SDN", "appeal_code": "X"}, tomorrow, spec{
			"funding_usd": decimal("3"),
		})},
		"poverty_rate": {with(spec{"location_code": "HTI", "admin_level": 0}, late, spec{
			"headcount_ratio": decimal("1"), "mpi": decimal("0"),
		})},
	}
}

// needsEnd are the figures and places whose requests have an end date because of futureRows. Of
// lists with one newest period for all places these are all places.
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
	without, with := figureTables(t), figureTables(t)
	later := futureRows()
	for i, to := range with {
		if to.endpoint.Table == "food_price" {
			for _, tables := range [][]*testTable{without, with} {
				tables[i].rows = append(tables[i].rows,
					fullRow(t, to, pricesOver("SDN", "2025-11-15", "2025-12-14", "rice", "4")),
					fullRow(t, to, pricesOver("SDN", "2026-11-15", "2026-12-14", "rice", "5")))
			}
		}
		for _, row := range later[to.endpoint.Table] {
			to.rows = append(to.rows, fullRow(t, to, row))
		}
	}
	o := state.Options{Identifier: state.IgnoreIdentifier}
	a, b := testServer(t, o, without), testServer(t, o, with)
	for _, query := range []string{"", "&end_date=2300", "&end_date=2024-06-30"} {
		was, _ := figureAnswer(t, a, "/api/v2/figures?location_code=%25"+query)
		is, _ := figureAnswer(t, b, "/api/v2/figures?location_code=%25"+query)
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
				again, _ := figureAnswer(t, b, u.String())
				for _, value := range again[0] {
					if value != r["value"] {
						t.Errorf("%s: %s gives %v, the figure is %v", name, request, value, r["value"])
					}
				}
			}
		}
	}
	price, _ := figureAnswer(t, b, "/api/v2/figures/price_change_in_a_year?location_code=SDN")
	if got := fmt.Sprint(price[0]["value"], price[0]["request"]); !strings.HasPrefix(got, "25.0") ||
		!strings.Contains(got, "end_date=2026-11-20&") {
		t.Errorf("the change of prices is %s", got)
	}
}
