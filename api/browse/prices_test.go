//go:build !race

package browse_test

import (
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/state"
)

// TestBrowsePrices: prices of several countries are a line for each, also where they are of the
// same currency, unit and type.
func TestBrowsePrices(t *testing.T) {
	t.Parallel()
	tables := apitest.FigureTables(t)
	apitest.SetRows(t, tables, "food_price", apitest.PriceOf("AFG", 2024, 6, "AFG", "rice", "USD", "10"),
		apitest.PriceOf("SDN", 2024, 6, "SDN", "rice", "USD", "30"))
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	const view = "/figure/food-prices-market-monitor.csv?commodity_code=rice&location_code__in=SDN,AFG"
	answer := s.Answer("GET", view, nil)
	if _, rows, _ := strings.Cut(string(answer.Body), "\n"); !strings.HasPrefix(rows, "2024-06,10,30") {
		t.Errorf("%s: %d, %s", view, answer.Status, answer.Body)
	}
}
