package main_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestLosses removes one of several files of a table, and all of another one, as the program's user
// sees it: exit code, messages, report and metrics.
func TestLosses(t *testing.T) {
	parallel(t)
	files, store := newCatalog(t, 1), sampleStore(t)
	const lost = "conflict-events/hdx_hapi_conflict_event_global_2024.csv"
	delist := func(gone string) {
		t.Helper()
		list := filepath.Join(files, "catalog.json")
		catalog := decode[map[string]any](t, testkit.ReadFile(t, list))
		resources := catalog["resources"].([]any)
		catalog["resources"] = slices.DeleteFunc(resources, func(r any) bool {
			return strings.HasPrefix(r.(map[string]any)["path"].(string), gone)
		})
		text, err := json.Marshal(catalog)
		if err != nil || len(resources) == len(catalog["resources"].([]any)) {
			t.Fatalf("%s is not listed, %v", gone, err)
		}
		testkit.WriteFile(t, list, text)
	}
	delist(lost)
	build := func(code int, day string, more ...string) cmdResult {
		t.Helper()
		args := []string{"build", "--catalog", files, "--store", store, "--snapshot-time", day + "T01:02:00Z"}
		return mustExitWith(t, noneEmpty, code, append(args, more...)...)
	}
	for _, day := range []string{"2026-11-22", "2026-11-23"} {
		o := build(5, day)
		want := "stale since 2026-11-22T01:02:00Z: conflict_event: " + lost
		if !strings.Contains(o.stderr, "hdqs: "+want) || !strings.Contains(o.stdout, want) ||
			!strings.Contains(o.stderr, "partial, see the report: conflict_event (stale)") {
			t.Errorf("%s: %s\n%s", day, o.stderr, o.stdout)
		}
	}
	s := serve(t, "--store", store)
	metrics := string(ask(t, "GET", s.admin+"/metrics").body)
	if !strings.Contains(metrics, `hdqs_source_stale{table="conflict_event"} 1`) {
		t.Error("no metric says that the table is stale")
	}
	build(2, "2026-11-24", "--allow-shrink=conflict-event")
	build(2, "2026-11-24", "--allow-empty", "conflict_event")
	build(2, "2026-11-24", "--only", "conflict")
	o := build(0, "2026-11-24", "--allow-shrink=conflict-events")
	if !strings.Contains(o.stderr, "fewer rows: conflict_event: ") || !strings.Contains(o.stderr, "(allowed)") {
		t.Errorf("a loss that is allowed: %s", o.stderr)
	}
	build(0, "2026-11-25")

	// A theme that is empty from the start.
	delist("idps/")
	store = filepath.Join(t.TempDir(), "store")
	if o = build(5, "2026-11-26"); !strings.Contains(o.stderr, "no rows: idps; --allow-empty idps accepts it") ||
		!strings.Contains(o.stderr, "idps (no rows)") {
		t.Errorf("an empty theme: %s", o.stderr)
	}
	build(5, "2026-11-27")
	build(0, "2026-11-28", "--allow-empty", "idps")
	o = mustExit(t, 2, "serve", "--store", store, "--refresh", "1h")
	if !strings.Contains(o.stderr, "--refresh needs --catalog") {
		t.Errorf("--refresh: %s", o.stderr)
	}
}
