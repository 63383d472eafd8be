package main_test

import (
	"bytes"
	"encoding/csv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestCoarsestFixtures asks for figures of the real input that other programs found, among them
// sums that counted people twice before.
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
	for _, c := range []struct{ path, fields, numbers string }{
		{"coordination-context/conflict-events", "event_type", "events,fatalities"},
		{"affected-people/humanitarian-needs", "sector_code,population_status,category", "population"},
		{"affected-people/idps", "assessment_type,operation,reporting_round", "population"},
		{"food-security-nutrition-poverty/food-security", "ipc_phase,ipc_type", "population_in_phase"},
		{"geography-infrastructure/baseline-population", "gender,age_range", "population"},
	} {
		s.testCascade(t, "/hapi/api/v2/"+c.path, strings.Split(c.fields, ","), strings.Split(c.numbers, ","))
	}
}

// testCascade compares sums at the coarsest level with those of the rows of a whole list. Of each
// country, period and values of fields the cascade takes the country's own rows; without any, those
// of each province; and of provinces without any, those of their districts.
func (s *server) testCascade(t *testing.T, path string, fields, numbers []string) {
	t.Helper()
	groups := append([]string{"location_code", "reference_period_start", "reference_period_end"}, fields...)
	records := func(path string) (all []map[string]string) {
		a := ask(t, "GET", s.base+with(path+"output_format=csv"))
		lines, err := csv.NewReader(bytes.NewReader(a.body)).ReadAll()
		if err != nil || a.status != 200 {
			t.Fatalf("%s: %d, %v, %.500s", path, a.status, err, a.body)
		}
		for _, line := range lines[1:] {
			record := map[string]string{}
			for i, name := range lines[0] {
				record[name] = line[i]
			}
			all = append(all, record)
		}
		return all
	}
	// keyOf has the values that rows share with those of places that contain theirs, and a place.
	keyOf := func(r map[string]string, place string) (key string) {
		for _, name := range groups {
			switch value := r[name]; {
			case name == "category" && value == "total": // everybody, as none is
			case name != "reporting_round": // a date
				key += value
			}
			key += "|"
		}
		return key + place
	}
	provinces := func(r map[string]string) []string { // by its code, and its name as the source has it
		name, code := r["provider_admin1_name"], r["admin1_code"]
		switch isKnown := code != "" && !strings.HasSuffix(code, "-XXX"); {
		case !isKnown:
			return []string{"the place named " + name}
		case name == "":
			return []string{code}
		}
		return []string{code, "the place named " + name}
	}
	rows, own := records(path+"/export?"), map[string]bool{}
	for _, r := range rows {
		switch isPart := r["provider_admin2_name"] != ""; {
		case r["admin_level"] == "0" && r["provider_admin1_name"] == "" && !isPart:
			own[keyOf(r, "")] = true
		case r["admin_level"] == "1" && !isPart:
			for _, place := range provinces(r) {
				own[keyOf(r, place)] = true
			}
		}
	}
	groupOf := func(r map[string]string, number string) (key string) {
		for _, name := range groups {
			key += r[name] + "|"
		}
		return key + number
	}
	want, got := map[string]int{}, map[string]int{}
	for _, r := range rows {
		level := r["admin_level"]
		inProvince := func(place string) bool { return own[keyOf(r, place)] }
		if level != "0" && own[keyOf(r, "")] || level == "2" && slices.ContainsFunc(provinces(r), inProvince) {
			continue
		}
		for _, name := range numbers {
			if number, err := strconv.Atoi(r[name]); err == nil {
				want[groupOf(r, name)] += number
			}
		}
	}
	sums := "&measures=sum:" + strings.Join(numbers, ",sum:") + "&group_by=" + strings.Join(groups, ",") + "&"
	for _, r := range records(path + "/aggregate?admin_level=coarsest&limit=10000" + sums) {
		for _, name := range numbers {
			if number, err := strconv.Atoi(r["sum_"+name]); err == nil {
				got[groupOf(r, name)] = number
			}
		}
	}
	if t.Logf("%s: %d sums", path, len(want)); len(want) == 0 || !maps.Equal(got, want) {
		t.Errorf("%s: sums at the coarsest level are\n%.2000v, want\n%.2000v", path, got, want)
	}
}
