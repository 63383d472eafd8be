package main_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// TestDeltasOfLoads builds two editions of a catalog, follows the store by HTTP, and checks that
// the copy is complete and that the large tables came as deltas.
func TestDeltasOfLoads(t *testing.T) {
	parallel(t)
	roles := []string{"conflict-events", "national-risk"}
	options := generator.Options{Seed: 3, Scale: 0.01, Roles: roles}
	store, data := filepath.Join(t.TempDir(), "store"), t.TempDir()
	build := func(at string, o generator.Options, more ...string) cmdResult {
		args := []string{
			"build", "--catalog", newCatalogOf(t, o), "--store", store, "--allow-shrink", "--snapshot-time", at,
		}
		return mustExit(t, 0, append(args, more...)...)
	}
	if got := build(buildTime, options); strings.Contains(got.stderr, "deltas") {
		t.Errorf("deltas to the first snapshot: %s", got.stderr)
	}
	var asked struct {
		sync.Mutex
		names []string
	}
	files := http.FileServer(http.Dir(store))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Lock()
		asked.names = append(asked.names, r.URL.Path)
		asked.Unlock()
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	fetch := func() string {
		asked.Lock()
		asked.names = nil
		asked.Unlock()
		mustExit(t, 0, "inspect", "--store", server.URL, "--data-dir", data, "--allow-http", "--allow-private-hosts",
			"--columns")
		asked.Lock()
		defer asked.Unlock()
		return strings.Join(asked.names, "\n")
	}
	if names := fetch(); strings.Contains(names, "/deltas/") {
		t.Errorf("a new copy asks for deltas: %s", names)
	}
	options.Edited = 100
	if got := build("2026-11-22T00:00:00Z", options); !strings.Contains(got.stderr, "deltas to 20261122T000000Z-") {
		t.Errorf("no deltas: %s", got.stderr)
	}
	written, err := filepath.Glob(filepath.Join(store, "deltas", "*.delta"))
	if err != nil || len(written) == 0 {
		t.Fatalf("deltas %q, %v", written, err)
	}
	names := fetch()
	for _, file := range written {
		from, to, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".delta"), "-")
		if !strings.Contains(names, filepath.Base(file)) || strings.Contains(names, to) &&
			strings.Contains(names, "/segments/"+to) {
			t.Errorf("asked for %s; want the delta from %s and not the segment %s", names, from, to)
		}
	}
	mustExit(t, 0, "verify", "--store", filepath.Join(data, "store"))

	options.Edited = 50
	build("2026-11-23T00:00:00Z", options, "--deltas", "0")
	if now, _ := filepath.Glob(filepath.Join(store, "deltas", "*")); len(now) != len(written) {
		t.Errorf("--deltas 0 wrote some: %q", now)
	}
	mustExit(t, 0, "rollback", "--store", store)
	got := mustExit(t, 0, "publish", "--store", store, third(t, store))
	if !strings.Contains(got.stderr, "deltas to 20261123") {
		t.Errorf("publish wrote no deltas: %s", got.stderr)
	}

	// A folder that cannot be written costs deltas, not the load.
	testkit.Must(t, os.RemoveAll(filepath.Join(store, "deltas")))
	testkit.Must(t, os.WriteFile(filepath.Join(store, "deltas"), nil, 0o600))
	options.Edited = 20
	if got := build("2026-11-24T00:00:00Z", options); !strings.Contains(got.stderr, "deltas to 20261124") ||
		!strings.Contains(got.stderr, "could not be written") {
		t.Errorf("no warning: %s", got.stderr)
	}
}

// third is the id of the snapshot of the third load.
func third(t *testing.T, store string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(store, "manifests", "20261123*.report.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%q, %v", found, err)
	}
	return strings.TrimSuffix(filepath.Base(found[0]), ".report.json")
}
