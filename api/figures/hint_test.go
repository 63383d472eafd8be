//go:build !race

package figures_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/state"
)

const eventsPath = "/api/v2/coordination-context/conflict-events"

// TestUnitsOfOneName checks that groups by names that units of several countries share get a hint,
// only where a group has several countries.
func TestUnitsOfOneName(t *testing.T) {
	t.Parallel()
	table := apitest.SampleTable(apitest.Plan(eventsPath).Endpoint, 60, rand.New(rand.NewPCG(1, 2)))
	for i, row := range table.Rows {
		row["location_code"] = []string{"CMR", "HTI", "TCD"}[i%3]
		row["admin1_name"] = []string{"Centre", "Nord", "Lac"}[i%3]
		if i%2 == 0 {
			row["admin1_name"] = "Centre"
		}
		row["admin2_name"] = row["location_code"].(string) + " 1"
	}
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, []*apitest.Table{table})
	for query, want := range map[string]bool{
		"group_by=admin1_name":                               true,
		"group_by=admin_level,admin1_name&limit=1":           true,
		"group_by=admin1_name&output_format=csv":             true,
		"group_by=admin1_name,location_code":                 false,
		"group_by=location_name,admin1_name":                 false,
		"group_by=admin1_name&location_code=HTI":             false,
		"group_by=admin2_name":                               false, // no name is shared
		"group_by=event_type":                                false,
		"group_by=admin1_name&location_code=none":            false,
		"group_by=admin1_name&measures=distinct:admin2_code": true,
	} {
		got := s.Answer("GET", eventsPath+"/aggregate?"+query, nil)
		hint := apitest.Header(got, "X-Hint")
		has := strings.Contains(hint, "admin1_name have records of several countries")
		if got.Status != 200 || has != want {
			t.Errorf("%s: %d %.200s with the hint %q", query, got.Status, got.Body, hint)
		}
		if strings.Contains(string(got.Body), "distinct_location_code") {
			t.Errorf("%s: the answer has a field that was not asked for: %.200s", query, got.Body)
		}
	}
}

// TestHints: an answer says what a name took in, which countries a level leaves out, and that
// places of one group contain those of another.
func TestHints(t *testing.T) {
	t.Parallel()
	tables := apitest.TrapTables(t)
	var rows []apitest.Row
	add := func(name string, place apitest.Row) {
		rows = append(rows, apitest.With(place, apitest.InMonth(2024, 1), apitest.Row{
			"location_name": name, "event_type": "political_violence", "events": 1, "fatalities": 1,
		}))
	}
	add("Niger", apitest.InPlace("NER"))
	add("Nigeria", apitest.InPlace("NGA", "NG01"))
	add("Nigeria", apitest.InPlace("NGA", "NG01", "NG0101"))
	add("Sudan", apitest.InPlace("SDN", "SD02", "SD0201"))
	for i := range rows {
		rows[i]["admin1_name"], rows[i]["stored_admin1_name"] = "North", "North"
	}
	for _, code := range []string{"AFG", "BDI", "SDN"} {
		add("Name of "+code, apitest.InPlace(code, code[:2]+"01"))
	}
	apitest.SetRows(t, tables, "conflict_event", rows...)
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	const (
		has   = "; admin_level=coarsest has all"
		niger = "location_name=Niger: 2 countries: NER, NGA; location_code=NER is one"
		all   = "admin_level=0 leaves out AFG, BDI and 2 more, which have other levels"
		nests = "Places of some groups contain those of others, so the groups are not to be added up."
	)
	for query, want := range map[string]string{
		"location_name=Niger&admin_level__in=0,1&measures=sum:events":                   niger,
		"location_name=Niger&admin_level__in=0,1&measures=count&group_by=location_code": "",
		"location_code=NER&measures=sum:events":                                         "",
		"location_name=nigeria&admin_level=1":                                           "",
		"admin_level=0&measures=sum:events":                                             all + has,
		"admin_level=0&group_by=admin1_code":                                            all,
		"admin_level=0&location_code__in=NER,SDN&measures=sum:events": "admin_level=0 leaves out SDN, which have " +
			"other levels" + has,
		"location_name=Niger&admin_level=0": "admin_level=0 leaves out NGA, which have other levels; " +
			"admin_level=coarsest has all",
		"admin1_name=North&admin_level=2&measures=sum:events": "admin1_name=North: 2 places: NG01, SD02; " +
			"admin1_code=NG01 is one | admin_level=2 leaves out NER, which have other levels" + has,
		"location_code=NGA&group_by=admin2_code&measures=sum:events": nests,
		"location_code=NGA&group_by=admin_level&measures=sum:events": "",
	} {
		got := s.Answer("GET", eventsPath+"/aggregate?"+query, nil)
		if hint := apitest.Header(got, "X-Hint"); got.Status != 200 || hint != want {
			t.Errorf("%s: %d %.300s with the hint %q, want %q", query, got.Status, got.Body, hint, want)
		}
	}
	got := s.Answer("GET", eventsPath+"?location_name=Niger&admin_level=0", nil)
	if hint := apitest.Header(got, "X-Hint"); hint != "" {
		t.Errorf("a list has the hint %q", hint)
	}
}
