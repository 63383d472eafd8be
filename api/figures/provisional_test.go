//go:build !race

package figures_test

import (
	"testing"
	"time"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
)

// TestProvisional checks which months answers call provisional, for each way to get a body.
func TestProvisional(t *testing.T) {
	t.Parallel()
	within := time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, apitest.ProvisionalTables(t, within))
	const conflict, rainfall = "/api/v2/coordination-context/conflict-events", "/api/v2/climate/rainfall"
	for target, want := range map[string]string{
		conflict:                                       "2026-08",
		conflict + "?output_format=csv":                "2026-08",
		"/hapi" + conflict:                             "2026-08",
		conflict + "?location_code=MLI":                "",
		conflict + "?end_date=2026-07":                 "",
		conflict + "?limit=1":                          "",
		conflict + "?limit=1&offset=1":                 "2026-08",
		conflict + "?limit=0":                          "",
		conflict + "?fields=events":                    "2026-08",
		conflict + "/aggregate?group_by=month":         "2026-08",
		conflict + "/aggregate?location_code=MLI":      "",
		conflict + "/aggregate?group_by=month&limit=1": "2026-08",
		rainfall:                                     "2026-07, 2026-08",
		rainfall + "?version=final":                  "",
		rainfall + "?version=forecast":               "2026-08",
		"/api/v2/coordination-context/national-risk": "",
	} {
		for range 3 { // the second one is kept, the third one comes from the cache
			a := s.Answer("GET", target, apitest.Fields("Accept-Encoding", "gzip"))
			if got := apitest.Header(a, contract.HeaderProvisional); a.Status != 200 || got != want {
				t.Errorf("%s: %d, %q, want %q", target, a.Status, got, want)
			}
			if head := s.Answer("HEAD", target, nil); apitest.Header(head, contract.HeaderProvisional) != want {
				t.Errorf("HEAD %s: %q", target, apitest.Header(head, contract.HeaderProvisional))
			}
		}
	}
	after := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier},
		apitest.ProvisionalTables(t, time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)))
	a, b := s.Answer("GET", conflict, nil), after.Answer("GET", conflict, nil)
	if apitest.Header(b, contract.HeaderProvisional) != "" || apitest.Header(a, "ETag") == apitest.Header(b, "ETag") ||
		string(a.Body) != string(b.Body) {
		t.Errorf("the same rows, all of months that had ended: %q, tags %s and %s",
			apitest.Header(b, contract.HeaderProvisional), apitest.Header(a, "ETag"), apitest.Header(b, "ETag"))
	}
}
