//go:build !race

package browse_test

import (
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/state"
)

// TestBrowseSummed: where a country has no records of the newest year, or of the one before, the
// chart of a sum over countries and the change on the page of a country name it with its figure.
func TestBrowseSummed(t *testing.T) {
	t.Parallel()
	tables := apitest.FigureTables(t)
	var rows []apitest.Row
	for _, of := range []struct {
		year   int
		asylum string
		people int
	}{{2022, "AFG", 10}, {2022, "MLI", 7}, {2023, "AFG", 10}, {2023, "MLI", 7}, {2024, "AFG", 12}} {
		rows = append(rows, apitest.With(apitest.InYear(of.year), apitest.Row{
			"origin_location_code": "SDN", "asylum_location_code": of.asylum, "population_group": "RET",
			"gender": "all", "age_range": "all", "population": of.people,
		}), apitest.With(apitest.InYear(of.year), apitest.Row{
			"origin_location_code": of.asylum, "asylum_location_code": "SDN", "population_group": "RET",
			"gender": "all", "age_range": "all", "population": of.people,
		}))
	}
	apitest.SetRows(t, tables, "returnees", rows...)
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	const all = "population_group=RET&age_range=all&gender=all&measure=population&by=year"
	for path, wants := range map[string][]string{
		"/browse/returnees?origin_location_code=SDN&" + all: {
			"Countries added up: 2 for 2023, 1 for 2024. Without records for 2024: Mali (7).",
			`<th scope="col" class="number">Countries</th>`,
		},
		"/browse/returnees?" + all + "&end_date=2023": {"3 countries: returned refugees by year, 2022 to 2023"},
		"/country/SDN": {"<small>2023: 17. Without records for 2024: Mali (7).</small>"},
	} {
		page := string(apitest.Browse(s, path).Body)
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s does not have %q", path, want)
			}
		}
		if strings.Contains(page, "added up") != strings.Contains(wants[0], "added up") {
			t.Errorf("%s says which countries are added up", path)
		}
	}
}
