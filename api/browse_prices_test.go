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
	setRows(t, tables, "food_price",
		priceOf("AFG", 2024, 6, "AFG", "rice", "USD", "10"), priceOf("SDN", 2024, 6, "SDN", "rice", "USD", "30"))
	s := testServer(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	const view = "/figure/food-prices-market-monitor.csv?commodity_code=rice&location_code__in=SDN,AFG"
	answer := s.Answer("GET", view, nil)
	if _, rows, _ := strings.Cut(string(answer.Body), "\n"); !strings.HasPrefix(rows, "2024-06,10,30") {
		t.Errorf("%s: %d, %s", view, answer.Status, answer.Body)
	}
}
