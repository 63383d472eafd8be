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
