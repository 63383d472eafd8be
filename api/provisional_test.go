//go:build !race

package api

import (
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// provisionalTables have events of two months of two countries, by a resource that was changed
// within the second month, and by one that is in no list; and rainfall of three versions.
func provisionalTables(t *testing.T, changed time.Time) []*testTable {
	t.Helper()
	tables := trapTables(t)
	for _, table := range tables {
		add := func(rows ...spec) {
			table.rows = nil
			for _, row := range rows {
				table.rows = append(table.rows, fullRow(t, table, row))
			}
		}
		event := func(place string, month int, kind, resource string) spec {
			return with(inPlace(place), inMonth(2026, month), spec{
				"event_type": kind, "events": 1, "fatalities": 0, "resource_catalog_id": resource,
			})
		}
		rain := func(month int, version string) spec {
			return with(inPlace("AFG"), inMonth(2026, month), spec{"aggregation_period": "1-month", "version": version})
		}
		switch table.endpoint.Table {
		case "conflict_event":
			add(event("AFG", 7, "demonstration", "known"), event("AFG", 8, "demonstration", "known"),
				event("MLI", 7, "demonstration", "other"), event("MLI", 8, "demonstration", "other"))
		case "rainfall":
			add(rain(6, "final"), rain(7, "preliminary"), rain(8, "forecast"))
		case "resource":
			add(spec{"resource_catalog_id": "known"})
			table.rows[0]["update_date"], table.rows[0]["api_updated_date"] = changed, changed
		}
	}
	return tables
}

// TestProvisional checks which months answers call provisional, for each way to get a body.
func TestProvisional(t *testing.T) {
	t.Parallel()
	within := time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)
	s := testServer(t, state.Options{Identifier: state.IgnoreIdentifier}, provisionalTables(t, within))
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
			a := s.Answer("GET", target, []reply.HeaderField{{Name: "Accept-Encoding", Value: "gzip"}})
			if got := headerOf(a, contract.HeaderProvisional); a.Status != 200 || got != want {
				t.Errorf("%s: %d, %q, want %q", target, a.Status, got, want)
			}
			if head := s.Answer("HEAD", target, nil); headerOf(head, contract.HeaderProvisional) != want {
				t.Errorf("HEAD %s: %q", target, headerOf(head, contract.HeaderProvisional))
			}
		}
	}
	after := testServer(t, state.Options{Identifier: state.IgnoreIdentifier},
		provisionalTables(t, time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)))
	a, b := s.Answer("GET", conflict, nil), after.Answer("GET", conflict, nil)
	if headerOf(b, contract.HeaderProvisional) != "" || headerOf(a, "ETag") == headerOf(b, "ETag") ||
		string(a.Body) != string(b.Body) {
		t.Errorf("the same rows, all of months that had ended: %q, tags %s and %s",
			headerOf(b, contract.HeaderProvisional), headerOf(a, "ETag"), headerOf(b, "ETag"))
	}
}
