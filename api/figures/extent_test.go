//go:build !race

package figures_test

import (
	"fmt"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// TestFiguresOfParts: a figure says of how many months it is, of how many people or dollars, and
// how many countries there are on the other side. A value of other times than those that are asked
// for is none.
func TestFiguresOfParts(t *testing.T) {
	t.Parallel()
	tables := apitest.FigureTables(t)
	apitest.AddRows(t, tables, string(testkit.ReadFile(t, "testdata/parts.txt")))
	for year, asylums := range map[int]int{2020: 99, 2021: 100, 2022: 150} {
		for i := range asylums {
			apitest.AddRows(t, tables, fmt.Sprintf("table refugees\n- %d; origin_location_code=SDN; "+
				"asylum_location_code=A%02X; population_group=REF; gender=all; age_range=all; population=2", year, i))
		}
	}
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	fields := []string{"value", "complete", "months", "of_months", "out_of", "other_places"}
	for query, want := range map[string]string{
		"people_in_phase_3_or_worse?location_code=AFG":                   "10 true <nil> <nil> 40 <nil>",
		"people_in_phase_3_or_worse?location_code=MLI":                   "3 true <nil> <nil> 9 <nil>",
		"people_in_phase_3_or_worse?location_code=TCD":                   "3 true <nil> <nil> <nil> <nil>",
		"refugees_by_origin?location_code=SDN":                           "10 false <nil> <nil> <nil> 3",
		"refugees_by_origin?location_code=SDN&end_date=2020":             "198 false <nil> <nil> <nil> 99",
		"refugees_by_origin?location_code=SDN&end_date=2021":             "200 true <nil> <nil> <nil> 100",
		"refugees_by_origin?location_code=SDN&end_date=2022":             "300 true <nil> <nil> <nil> 150",
		"refugees_by_asylum?location_code=TCD":                           "5 true <nil> <nil> <nil> 2",
		"political_violence_events?location_code=SDN":                    "22 false 11 12 <nil> <nil>",
		"political_violence_events?location_code=AFG":                    "12 false 12 12 <nil> <nil>",
		"political_violence_events?location_code=MLI":                    "12 true 12 12 <nil> <nil>",
		"political_violence_events?location_code=TCD&end_date=1997-06":   "7 false 1 12 <nil> <nil>",
		"political_violence_events?location_code=TCD&end_date=2022-12":   "<nil> false 1 12 <nil> <nil>",
		"political_violence_events?location_code=SDN&end_date=2030":      "22 false 11 12 <nil> <nil>",
		"funding_received?location_code=SDN":                             "30 true <nil> <nil> 120 <nil>",
		"funding_asked?location_code=SDN":                                "120 true <nil> <nil> <nil> <nil>",
		"funding_received_all?location_code=SDN":                         "37 true <nil> <nil> <nil> <nil>",
		"political_violence_fatalities?location_code=SDN":                "11 false 11 12 <nil> <nil>",
		"people_reached?location_code=SDN":                               "9 true <nil> <nil> <nil> <nil>",
		"returned_idps?location_code=SDN":                                "6 true <nil> <nil> <nil> <nil>",
		"rainfall_percent_of_normal?location_code=SDN":                   "75.0 true <nil> <nil> <nil> <nil>",
		"organisations_present?location_code=SDN":                        "2 true <nil> <nil> <nil> <nil>",
		"funding_percent?location_code=SDN":                              "25.0 true <nil> <nil> 120 <nil>",
		"poverty_headcount?location_code=SDN":                            "52.5 true <nil> <nil> <nil> <nil>",
		"poverty_headcount?location_code=TCD":                            "87.1 true <nil> <nil> <nil> <nil>",
		"poverty_headcount?location_code=TCD&end_date=2016":              "80.0 true <nil> <nil> <nil> <nil>",
		"poverty_headcount?location_code=MLI":                            "<nil> <nil> <nil> <nil> <nil> <nil>",
		"people_in_phase_3_or_worse?location_code=AFG&end_date=2040-01":  "10 true <nil> <nil> 40 <nil>",
		"people_in_phase_3_or_worse?location_code=MLI&output_format=csv": "",
	} {
		if want == "" {
			testkit.Contains(t, s.Answer("GET", "/api/v2/figures/"+query, nil).Body, ",True,,,9,,", "%s", query)
			continue
		}
		records, _ := apitest.Records(t, s, "/api/v2/figures/"+query)
		var got []string
		for _, field := range fields {
			got = append(got, fmt.Sprint(records[0][field]))
		}
		testkit.Equal(t, strings.Join(got, " "), want, "%s; reason %v", query, records[0]["reason"])
	}
	for of, want := range map[[2]string]string{
		{"poverty_headcount?location_code=TCD", "reason"}: "a newer survey, of 2021-01, is of provinces only",
		{"poverty_headcount?location_code=SDN", "reason"}: "<nil>",
		{"political_violence_events?location_code=TCD&end_date=2022-12", "reason"}: "its newest records before that " +
			"time are of 1997-01, more than a year before it",
		{"political_violence_events?location_code=HTI", "period_start"}: "2024-03-01T00:00:00", // of the later file
		{"political_violence_events?location_code=HTI", "period_end"}:   "2024-08-31T23:59:59",
		{"political_violence_events?location_code=HTI", "admin_level"}:  "<nil>",
		{"political_violence_events?location_code=HTI", "provider"}:     "P",
		{"political_violence_events?location_code=HTI", "dataset"}:      "<nil>", // of two
		{"political_violence_events?location_code=AFG", "dataset"}:      "D",
		{"political_violence_events?location_code=AFG", "resource"}:     "<nil>",
		{"political_violence_events?location_code=MLI", "resource"}:     "b",
		{"political_violence_events?location_code=HTI", "updated"}:      "2024-11-02T00:00:00", // the later
	} {
		records, _ := apitest.Records(t, s, "/api/v2/figures/"+of[0])
		testkit.Equal(t, fmt.Sprint(records[0][of[1]]), want, "%s: %s", of[0], of[1])
	}
}

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
		apitest.AddRows(t, tables, fmt.Sprintf(`
only food_security
AFG 2024-01; classification_phase=3+; classification_type=current; population_in_phase=100
AFG/AF01 2024-01; classification_phase=3+; classification_type=current; population_in_phase=%d
AFG/AF02 2024-01; classification_phase=3+; classification_type=current; population_in_phase=%d`, c.units[0], c.units[1]))
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
