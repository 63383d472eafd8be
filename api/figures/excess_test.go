//go:build !race

package figures_test

import (
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/state"
)

// TestExcess adds up units whose country has a figure of its own for the same period: a sum that is
// more than that gets a hint.
func TestExcess(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		units [2]int
		hint  string
	}{
		{[2]int{60, 40}, ""},
		{[2]int{60, 41}, ""}, // rounded
		{[2]int{60, 30}, ""},
		{[2]int{60, 60}, "The units of AFG add up to 120, more than the 100 of the place that contains them: some " +
			"units count what others count, or it leaves some of them out. admin_level=coarsest takes its own figure."},
	} {
		tables := apitest.TrapTables(t)
		for _, table := range tables {
			if table.Endpoint.Table != "food_security" {
				continue
			}
			table.Rows = nil
			for i, place := range []apitest.Row{
				apitest.InPlace("AFG"), apitest.InPlace("AFG", "AF01"), apitest.InPlace("AFG", "AF02"),
			} {
				table.Rows = append(
					table.Rows,
					apitest.FullRow(t, table, apitest.With(place, apitest.InMonth(2024, 1), apitest.Row{
						"classification_phase": "3+", "classification_type": "current",
						"population_in_phase": []int{100, c.units[0], c.units[1]}[i],
					})),
				)
			}
		}
		s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
		a := s.Answer(
			"GET",
			"/api/v2/food-security-nutrition-poverty/food-security/aggregate?classification_type=current&"+
				"classification_phase=3%2B&admin_level=1&start_date=2024-01-01&end_date=2024-01-31&"+
				"measures=sum:population_in_phase",
			nil,
		)
		if got := apitest.Header(a, "X-Hint"); a.Status != 200 || got != c.hint {
			t.Errorf("units %v: %d, hint %q, want %q", c.units, a.Status, got, c.hint)
		}
	}
}
