package main_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// bulkManifest is what these tests read of a manifest.
type bulkManifest struct {
	Snapshot string
	Tables   []bulkTable
}

type bulkTable struct {
	Table string
	Rows  int
	Files []struct{ Path, SHA256 string }
}

func readBulkManifest(t *testing.T, path string) (m bulkManifest) {
	t.Helper()
	testkit.Must(t, json.Unmarshal(testkit.ReadFile(t, path), &m))
	return m
}

// TestExport exports the sample. TestGoldenMistakes has wrong flags.
func TestExport(t *testing.T) {
	parallel(t)
	dir := filepath.Join(t.TempDir(), "out")
	out := mustExit(t, 0, "export", dir)
	m := readBulkManifest(t, filepath.Join(dir, "latest", "manifest.json"))
	if !strings.Contains(out.stdout, filepath.Join(dir, m.Snapshot)) || len(m.Tables) < 20 {
		t.Errorf("%s; the manifest has %d tables", out.stdout, len(m.Tables))
	}
}

// TestExportOfCatalog: an export may load a catalog first. If that fails nothing is exported, not
// even the snapshot of an earlier load.
func TestExportOfCatalog(t *testing.T) {
	parallel(t)
	data, good := t.TempDir(), newCatalogOf(t, generator.Options{
		Seed: 1, Small: true, Roles: []string{"funding", "poverty-rate"},
	})
	export := func(code int, catalog, dir string) cmdResult {
		t.Helper()
		return mustExit(t, code, "export", dir, "--catalog", catalog, "--data-dir", data, "--formats", "csv.gz")
	}
	dir := filepath.Join(t.TempDir(), "out")
	export(0, good, dir)
	m := readBulkManifest(t, filepath.Join(dir, "latest", "manifest.json"))
	rows := 0
	for _, table := range m.Tables {
		rows += table.Rows
	}
	if rows == 0 {
		t.Error("the export has no rows")
	}
	dir = filepath.Join(t.TempDir(), "out")
	missing := filepath.Join(data, "nothing")
	if got := export(1, missing, dir); !strings.Contains(got.stderr, missing) {
		t.Errorf("a catalog that is missing: %s", got.stderr)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("an export of a catalog that is missing has written a folder")
	}
	spoil(t, good) // a part of it cannot be used
	export(5, good, dir)
}

// TestBuildBulk: a load writes bulk files before it publishes, those of changed tables only, verify
// finds damage, a load repairs it, and gc removes what is not needed.
func TestBuildBulk(t *testing.T) {
	parallel(t)
	files := newCatalogOf(t, generator.Options{Seed: 1, Small: true})
	store := filepath.Join(t.TempDir(), "store")
	build := func(at string) {
		t.Helper()
		mustExit(t, 0, "build", "--catalog", files, "--store", store, "--snapshot-time", at, "--bulk")
	}
	build(buildTime)
	before := stored(t, filepath.Join(store, "bulk"))
	changeRows(t, files, "funding")
	build("2026-11-22T00:00:00Z")
	var added []string
	for name, file := range stored(t, filepath.Join(store, "bulk")) {
		was, there := before[name]
		if strings.HasPrefix(name, "iceberg/") { // each table gets a small file for each snapshot
			continue
		}
		if !there {
			added = append(added, name)
		} else if !file.changed.Equal(was.changed) {
			t.Errorf("%s was written again", name)
		}
	}
	slices.Sort(added)
	for _, name := range added {
		table := strings.HasPrefix(name, "data/funding/") || strings.HasPrefix(name, "data/csv/")
		// Lists of the catalog have changed with the file.
		lists := strings.HasPrefix(name, "data/resource/") || strings.HasPrefix(name, "data/data_availability/")
		if !table && !lists && !strings.HasPrefix(name, "snapshots/") {
			t.Errorf("%s was added by a change of funding", name)
		}
	}
	if len(added) < 4 || len(added) > 10 {
		t.Errorf("added: %q", added)
	}
	mustExit(t, 0, "verify", "--store", store)
	if states := icebergStates(t, store, "funding"); states != 2 {
		t.Errorf("the Iceberg table has %d snapshots, want 2", states)
	}
	for _, damaged := range []string{
		filepath.Join(store, "bulk", added[0]), pathOf(t, store, "bulk/iceberg/funding/metadata/snap-*.avro"),
	} {
		testkit.Must(t, os.Truncate(damaged, 3))
		if got := mustExit(t, 4, "verify", "--store", store); !strings.Contains(got.stderr, filepath.Base(damaged)) {
			t.Errorf("%s is damaged, verify says %s", damaged, got.stderr)
		}
		build("2026-11-22T00:00:00Z") // nothing has changed
		mustExit(t, 0, "verify", "--store", store)
	}
	mustExit(t, 0, "gc", "--store", store, "--keep", "0", "--grace", "0s")
	manifests, err := fs.Glob(os.DirFS(store), "bulk/snapshots/*")
	if err != nil || len(manifests) != 1 {
		t.Errorf("after gc there are %q, %v", manifests, err)
	}
	if states := icebergStates(t, store, "funding"); states != 1 {
		t.Errorf("after gc the Iceberg table has %d snapshots, want 1", states)
	}
	mustExit(t, 0, "verify", "--store", store)
}

// icebergStates returns how many snapshots an Iceberg table of a store has.
func icebergStates(t *testing.T, store, table string) int {
	t.Helper()
	dir := filepath.Join(store, "bulk", "iceberg", table, "metadata")
	var metadata struct{ Snapshots []struct{} }
	path := filepath.Join(dir,
		"v"+string(testkit.ReadFile(t, filepath.Join(dir, "version-hint.text")))+".metadata.json")
	testkit.Must(t, json.Unmarshal(testkit.ReadFile(t, path), &metadata))
	return len(metadata.Snapshots)
}

// TestReplicaOfBulk: a replica of a remote store downloads bulk files if it serves them, and only
// then. A download that fails is tried again.
func TestReplicaOfBulk(t *testing.T) {
	parallel(t)
	store, data := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "data")
	mustExit(t, 0, "build", "--catalog", newCatalogOf(t, generator.Options{Seed: 1, Small: true}), "--store", store,
		"--snapshot-time", buildTime, "--bulk")
	files := http.FileServer(http.Dir(store))
	var broken atomic.Bool
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() && strings.HasPrefix(r.URL.Path, "/bulk/data/") {
			http.Error(w, "broken", http.StatusForbidden)
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	args := []string{
		"--store", web.URL, "--allow-http", "--allow-private-hosts", "--data-dir", data, "--snapshot-poll", "1h",
	}
	copied := func() int {
		found, _ := filepath.Glob(filepath.Join(data, "store", "bulk", "*", "*"))
		return len(found)
	}
	s := serve(t, args...)
	s.mustAnswer(t)
	s.stop(t)
	if n := copied(); n != 0 {
		t.Errorf("%d bulk files were downloaded unasked", n)
	}
	broken.Store(true)
	s = serve(t, append(args, "--bulk")...)
	testkit.WaitFor(t, "the failure in the log", func() bool { return s.logged("bulk files could not be downloaded") })
	s.mustAnswer(t)
	broken.Store(false)
	s.signal(t, syscall.SIGHUP)
	id := s.snapshotID(t)
	testkit.WaitFor(t, "the bulk files", func() bool {
		return ask(t, "GET", s.base+"/bulk/"+id+"/manifest.json").status == http.StatusOK
	})
	var m bulkManifest
	testkit.Must(t, json.Unmarshal(ask(t, "GET", s.base+"/bulk/"+id+"/manifest.json").body, &m))
	for _, table := range m.Tables {
		for _, f := range table.Files {
			sum := sha256.Sum256(ask(t, "GET", s.base+"/bulk/"+id+"/"+f.Path).body)
			if hex.EncodeToString(sum[:]) != f.SHA256 {
				t.Errorf("%s has other bytes than the manifest says", f.Path)
			}
		}
	}
}
