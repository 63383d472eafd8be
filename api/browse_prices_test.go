//go:build !race

package api

import (
	"strings"
	"testing"

	"hdqs/api/state"
)

// TestBrowsePrices: prices of several countries are a line for each, also where they are of the
// same currency, unit and type.
func TestBrowsePrices(t *testing.T) {
	t.Parallel()
	tables := figureTables(t)
	for _, table := range tables {
		if table.endpoint.Table != "food_price" {
			continue
		}
		table.rows = nil
		for _, price := range [][2]string{{"AFG", "10"}, {"SDN", "30"}} {
			table.rows = append(table.rows, fullRow(t, table, with(inPlace(price[0]), inMonth(2024, 6), spec{
				"market_code": price[0], "commodity_code": "rice", "currency_code": "USD", "unit": "KG",
				"price": decimal(price[1]),
			})))
		}
	}
	s := testServer(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	const view = "/figure/food-prices-market-monitor.csv?commodity_code=rice&location_code__in=SDN,AFG"
	answer := s.Answer("GET", view, nil)
	if _, rows, _ := strings.Cut(string(answer.Body), "\n"); !strings.HasPrefix(rows, "2024-06,10,30") {
		t.Errorf("%s: %d, %s", view, answer.Status, answer.Body)
	}
}
