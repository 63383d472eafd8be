package main_test

import (
	"encoding/json"
	"os"
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

// TestLossesUnseen: a load that cannot read what the channel shows says that it has compared with
// nothing, with exit code 5. A channel that is new in a store with other snapshots is named.
func TestLossesUnseen(t *testing.T) {
	parallel(t)
	files, kept := newCatalog(t, 1), sampleStore(t)
	shown, _ := inspect(t, kept)
	for name, damage := range map[string]func(store string) error{
		"a damaged channel": func(store string) error {
			return os.WriteFile(filepath.Join(store, "channels", "stable.json"), []byte("{"), 0o644)
		},
		"a lost manifest": func(store string) error {
			return os.Remove(filepath.Join(store, "manifests", shown.ID+".json"))
		},
	} {
		store := copyStore(t, kept)
		testkit.Must(t, damage(store))
		o := mustExitWith(t, noneEmpty, 5, "build", "--catalog", files, "--store", store, "--snapshot-time", buildTime)
		if !strings.Contains(o.stderr, "partial, see the report: snapshot of stable (refused)") ||
			!strings.Contains(o.stdout, "cannot be read, so that no loss of rows can be seen: ") {
			t.Errorf("%s: %s\n%s", name, o.stderr, o.stdout)
		}
	}
	testkit.Must(t, os.Remove(filepath.Join(kept, "channels", "stable.json")))
	const isNew = "channel stable is new, although the store has other snapshots"
	o := mustExit(t, 0, "publish", "--store", kept, shown.ID)
	if strings.Contains(o.stderr, isNew) {
		t.Errorf("the only snapshot: %s", o.stderr)
	}
	other := newCatalog(t, 2)
	build := []string{"build", "--catalog", other, "--store", kept, "--snapshot-time", "2026-11-28T01:02:00Z"}
	mustExitWith(t, noneEmpty, 0, append(build, "--allow-shrink")...)
	o = mustExit(t, 0, "publish", "--store", kept, "--channel", "stabel", shown.ID)
	if !strings.Contains(o.stderr, strings.ReplaceAll(isNew, "stable", "stabel")) {
		t.Errorf("a mistyped channel: %s", o.stderr)
	}
	testkit.Must(t, os.Remove(filepath.Join(kept, "channels", "stable.json")))
	if o = mustExitWith(t, noneEmpty, 0, build...); !strings.Contains(o.stderr, isNew) {
		t.Errorf("a channel whose file is gone: %s", o.stderr)
	}
}

// TestRefreshLosses: a server that loads by itself logs what a later load could not use, and why.
func TestRefreshLosses(t *testing.T) {
	parallel(t)
	files := newCatalog(t, 1)
	testkit.Must(t, os.Remove(filepath.Join(files, "catalog.json")))
	s := serve(t, "--catalog", files, "--refresh", "1s", "--data-dir", t.TempDir())
	testkit.Must(t, os.RemoveAll(filepath.Join(files, "idps")))
	testkit.WaitFor(t, "the loss in the log", func() bool {
		return s.logged("the load is partial") && s.logged("idps (stale)") && s.logged("stale=1 ") &&
			s.logged("is not in the catalog any more")
	})
	s.stop(t)
}
