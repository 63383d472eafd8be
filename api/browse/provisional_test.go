//go:build !race

package browse_test

import (
	"strings"
	"testing"
	"time"

	"hdqs/api/apitest"
	"hdqs/api/state"
)

// TestBrowseProvisional: months whose figures can still change are dashed, and said to be so, in
// the chart that an address asks for and in the first view.
func TestBrowseProvisional(t *testing.T) {
	t.Parallel()
	within := time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, apitest.ProvisionalTables(t, within))
	for query, changing := range map[string]bool{
		"?measure=records&by=month":                   true,
		"?event_type=demonstration":                   true,
		"?measure=records&by=month&location_code=MLI": false,
		"?measure=records&by=month&end_date=2026-07":  false,
	} {
		page := string(apitest.Browse(s, "/browse/conflict-events"+query).Body)
		for _, part := range []string{
			`mark s1 changing"`, "can still change the figures of 2026-08.", `2026-08 <small>can change</small>`,
		} {
			if strings.Contains(page, part) != changing {
				t.Errorf("%s: %q is on the page: %v", query, part, !changing)
			}
		}
		if strings.Contains(page, "2026-07 <small>") {
			t.Errorf("%s: July can change", query)
		}
	}
}

// TestBrowseWords: filters stand in the words of people, and nothing is chosen where a choice is
// missing.
func TestBrowseWords(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 120)
	for path, parts := range map[string][]string{
		"humanitarian-needs?location_code=AFG&population_status=INN&admin_level=0": {
			"<bdi>Country: ", "<bdi>Status: in need</bdi>", "<bdi>Whole countries</bdi>",
			"Place <small>2 chosen</small>",
		},
		"conflict-events?location_code__in=AFG,MLI&event_type=political_violence": {
			"<bdi>Country: ", "<bdi>Kind of event: political violence</bdi>",
		},
		"food-security?latest=edition": {"<bdi>Latest round</bdi>", "<bdi>Phase: none or minimal, "},
		"food-prices-market-monitor":   {": price of "},
		"national-risk?measure=overall_risk&by=location_code": {
			`<option value="overall_risk" selected>Overall risk</option>`, "Risk of humanitarian crises by country",
		},
		"operational-presence?measure=org_acronym&by=sector_name":   {"countries: organisations present by sector, "},
		"conflict-events?measure=records&by=year&location_code=%25": {" countries</bdi>"},
	} {
		page := string(apitest.Browse(s, "/browse/"+path).Body)
		for _, part := range parts {
			if !strings.Contains(page, part) {
				t.Errorf("%s does not have %q", path, part)
			}
		}
		if strings.Contains(page, "<bdi>Country: AFG") {
			t.Errorf("%s has the code of a country in place of its name", path)
		}
		if strings.Contains(page, "<details class=\"group\" open>") {
			t.Errorf("%s: filters are open though none is wrong", path)
		}
	}
	wrong := string(apitest.Browse(s, "/browse/conflict-events?start_date=never").Body)
	if !strings.Contains(wrong, "<details class=\"group\" open><summary>Time") {
		t.Error("a wrong filter is hidden")
	}
}
