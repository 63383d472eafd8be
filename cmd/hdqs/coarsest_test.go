package main_test

import (
	"strings"
	"testing"
)

// TestCoarsestFixtures asks for figures of the real input that other programs found, among them
// sums that counted people twice before. The judge finds out what other sums are right.
func TestCoarsestFixtures(t *testing.T) {
	parallel(t)
	s := serve(t, "--store", fixtureStore(t))
	const (
		conflict = "coordination-context/conflict-events/aggregate?start_date=2025-01&end_date=2025-01" +
			"&event_type=political_violence&measures=sum:events,sum:fatalities"
		needs = "affected-people/humanitarian-needs/aggregate?sector_code=Intersectoral&everybody=true&latest=edition" +
			"&admin_level=coarsest&group_by=location_code&measures=sum:population&population_status="
		food       = "food-security-nutrition-poverty/food-security/aggregate?measures=sum:population_in_phase"
		population = "geography-infrastructure/baseline-population/aggregate?everybody=true&latest=edition" +
			"&admin_level=coarsest&group_by=location_code&measures=sum:population"
		funding = "coordination-context/funding/aggregate?latest=edition&measures=sum:requirements_usd,sum:funding_usd"
		allOf   = "&classification_phase=all&classification_type="
	)
	for query, want := range map[string]string{
		conflict + "&admin_level=coarsest": `{"data":[{"sum_events":1146,"sum_fatalities":979}]}`,
		conflict:                           `{"data":[{"sum_events":1146,"sum_fatalities":979}]}`, // the same
		conflict + "&admin_level=coarsest&group_by=location_code&location_code__in=FRA,SDN,UKR": `{"data":[` +
			`{"location_code":"FRA","admin_level":0,"sum_events":0,"sum_fatalities":0},` +
			`{"location_code":"SDN","admin_level":2,"sum_events":49,"sum_fatalities":26},` +
			`{"location_code":"UKR","admin_level":null,"sum_events":16,"sum_fatalities":29}]}`,
		needs + "INN": `{"data":[{"location_code":"AFG","admin_level":0,"sum_population":23666389},` +
			`{"location_code":"SDN","admin_level":0,"sum_population":24786370}]}`,
		food + "&classification_type=current&classification_phase=3%2B&admin_level=coarsest&latest=edition" +
			"&group_by=location_code": `` +
			`{"data":[{"location_code":"AFG","admin_level":0,"sum_population_in_phase":17213584},` +
			`{"location_code":"AGO","admin_level":0,"sum_population_in_phase":1315532},` +
			`{"location_code":"CAF","admin_level":0,"sum_population_in_phase":2388086},` +
			`{"location_code":"ETH","admin_level":0,"sum_population_in_phase":16756345}]}`,
		population: `{"data":[{"location_code":"CAF","admin_level":1,"sum_population":4953014},` +
			`{"location_code":"COD","admin_level":0,"sum_population":103199358},` +
			`{"location_code":"VCT","admin_level":0,"sum_population":103938}]}`,
		funding: `{"data":[{"sum_requirements_usd":7101895113.0,"sum_funding_usd":1379019584.0}]}`,
		// Two names of one unit, and two sets of units.
		food + allOf + "second%20projection&admin_level=1&admin1_code=ET04&latest=true" +
			"&group_by=admin1_code": `{"data":[` + `{"admin1_code":"ET04","sum_population_in_phase":7304568}]}`,
		food + allOf + "current&admin_level=2&location_code=CAF&latest=edition": `{"data":[` +
			`{"sum_population_in_phase":6128671}]}`,
	} {
		if got := ask(t, "GET", s.base+with("/api/v2/"+query)); string(got.body) != want {
			t.Errorf("%s: %.600s\nwant %s", query, got.body, want)
		}
	}
	const twice = food + allOf + "current&admin_level=2&location_code=CAF&latest=true"
	if got := ask(t, "GET", s.base+with("/api/v2/"+twice)); !strings.Contains(string(got.body), "latest=edition&") {
		t.Errorf("%s: %.600s, want a refusal that names latest=edition", twice, got.body)
	}
}
