package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/internal/ckantest"
	"hdqs/internal/fetch"
	"hdqs/internal/testkit"
	"hdqs/loader"
	"hdqs/loader/sample"
)

func testFetch() fetch.Options {
	return fetch.Options{
		AllowHTTP: true, AllowPrivate: true, Tries: 3, BackoffMin: time.Millisecond, BackoffMax: 20 * time.Millisecond,
		Stall: testkit.Patience, Total: testkit.Patience,
	}
}

// site starts a CKAN site over the sample.
func site(t *testing.T) (*ckantest.Site, Options) {
	t.Helper()
	s := &ckantest.Site{Files: sample.FS, Override: map[string][]byte{}, Modified: map[string]string{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, Options{Source: server.URL, Cache: t.TempDir(), Fetch: testFetch()}
}

// downloadsOf is how many files a site has sent.
func downloadsOf(s *ckantest.Site) int {
	s.Lock()
	defer s.Unlock()
	return s.Requests["file"]
}

// requestsOf are a site's counts of requests as text.
func requestsOf(s *ckantest.Site) string {
	s.Lock()
	defer s.Unlock()
	return fmt.Sprint(s.Requests)
}

func mustSync(t *testing.T, o Options) *Summary {
	t.Helper()
	summary := testkit.Value(Sync(t.Context(), o))(t)
	return summary
}

func stateOf(t *testing.T, s *Summary, path string) FileState {
	t.Helper()
	for _, f := range s.Files {
		if f.Path == path {
			return f
		}
	}
	t.Fatalf("no state of %s among %d files", path, len(s.Files))
	return FileState{}
}

// sameTree compares every file that the sample's catalog.json names with the tree.
func sameTree(t *testing.T, dir string, except ...string) {
	t.Helper()
	compared := 0
	err := fs.WalkDir(sample.FS, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".csv") || strings.HasSuffix(path, "location.csv") ||
			slices.Contains(except, path) {
			return err
		}
		want, err := fs.ReadFile(sample.FS, path)
		if err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs: %v", path, err)
		}
		compared++
		return nil
	})
	if err != nil || compared < 20 {
		t.Fatalf("compared %d files, %v", compared, err)
	}
}

const (
	presence = "operational-presence/hdx_hapi_operational_presence_global.csv"
	conflict = "conflict-events/hdx_hapi_conflict_event_global_2025.csv"
)

func TestSyncFromCKAN(t *testing.T) {
	t.Parallel()
	server, o := site(t)
	first := mustSync(t, o)
	sameTree(t, first.Dir)
	if n := first.Count(loader.SourceNew); first.Kind != "ckan" || n != len(first.Files) || first.Packages < 50 {
		t.Errorf("first sync: kind %s, %d of %d files new, %d packages",
			first.Kind, n, len(first.Files), first.Packages)
	}
	data := testkit.ReadFile(t, filepath.Join(first.Dir, "catalog.json"))
	// Links that run out in a minute are kept nowhere.
	for _, name := range []string{"index.json", lastListing} {
		text := testkit.ReadFile(t, filepath.Join(o.Cache, name))
		data = append(data, text...)
	}
	if strings.Contains(string(data), "signed") {
		t.Error("what is kept has a short-lived link")
	}
	files := downloadsOf(server)

	second := mustSync(t, o)
	sameTree(t, second.Dir)
	if second.Count(loader.SourceUnchanged) != len(second.Files) || downloadsOf(server) != files {
		t.Errorf("second sync: %d of %d files unchanged, %d files sent again", second.Count(loader.SourceUnchanged),
			len(second.Files), downloadsOf(server)-files)
	}

	changed, _ := fs.ReadFile(sample.FS, presence)
	server.Lock()
	server.Override[presence] = append(bytes.Clone(changed), changed[bytes.IndexByte(changed, '\n')+1:]...)
	server.Modified[presence] = "2026-11-21T00:00:00"
	server.Unlock()
	third := mustSync(t, o)
	if third.Count(loader.SourceNew) != 1 || stateOf(t, third, presence).State != loader.SourceNew ||
		downloadsOf(server) != files+1 {
		t.Errorf("third sync: %d new", third.Count(loader.SourceNew))
	}
	sameTree(t, third.Dir, presence)
}

func TestOffline(t *testing.T) {
	t.Parallel()
	server, o := site(t)
	mustSync(t, o)
	before := requestsOf(server)
	o.Offline = true
	s := mustSync(t, o)
	sameTree(t, s.Dir)
	if after := requestsOf(server); after != before || s.Count(loader.SourceUnchanged) != len(s.Files) {
		t.Errorf("requests %s, before %s", after, before)
	}
}

func TestOnlyAndDryRun(t *testing.T) {
	t.Parallel()
	server, o := site(t)
	mustSync(t, o)
	server.Lock()
	server.Modified[conflict], server.Modified[presence] = "2026-11-23T00:00:00", "2026-11-23T00:00:00"
	server.Unlock()
	dry := o
	dry.DryRun = true
	s := mustSync(t, dry)
	for _, f := range s.Files {
		if isNew := f.Path == conflict || f.Path == presence; isNew != (f.State == loader.SourceNew) {
			t.Errorf("dry run: %s is %s", f.Path, f.State)
		}
	}
	if s.Dir != "" {
		t.Errorf("dry run: tree %q", s.Dir)
	}
	o.Only = []string{"conflict-events"}
	s = mustSync(t, o)
	if stateOf(t, s, conflict).State != loader.SourceNew || stateOf(t, s, presence).State != loader.SourceUnchanged {
		t.Errorf("only: %+v %+v", stateOf(t, s, conflict), stateOf(t, s, presence))
	}
}

// TestUnstableSearch: a package that comes twice while the pages are read makes the search begin
// again, and so does a second one with its name.
func TestUnstableSearch(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"one", "two"} {
		testUnstableSearch(t, id)
	}
}

func testUnstableSearch(t *testing.T, id string) {
	server, o := site(t)
	asked := 0
	server.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/package_search") {
			return false
		}
		asked++
		if asked == 1 {
			x, y := map[string]any{"id": "one", "name": "one"}, map[string]any{"id": id, "name": "one"}
			_ = json.NewEncoder(w).Encode(map[string]any{
				"success": true,
				"result":  map[string]any{"count": 2, "results": []any{x, y}},
			})
			return true
		}
		return false
	}
	sameTree(t, mustSync(t, o).Dir)
}

// TestMirror: a tree on a plain web server is read like any other, its digests are held, and its
// tree is the same.
func TestMirror(t *testing.T) {
	t.Parallel()
	files := http.FileServerFS(sample.FS)
	corrupt := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if corrupt && r.URL.Path == "/"+presence {
			fmt.Fprint(w, "location_code,other\n")
			return
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	o := Options{Source: server.URL, Cache: t.TempDir(), Fetch: testFetch()}
	s := mustSync(t, o)
	sameTree(t, s.Dir)
	if s.Kind != "mirror" || s.Count(loader.SourceNew) != len(s.Files) {
		t.Errorf("kind %s, %d new of %d", s.Kind, s.Count(loader.SourceNew), len(s.Files))
	}
	corrupt = true
	o.Cache = t.TempDir()
	s = mustSync(t, o)
	if f := stateOf(t, s, presence); f.State != loader.SourceRefused ||
		!strings.Contains(f.Why, "bytes") && !strings.Contains(f.Why, "sha256") {
		t.Errorf("corrupt file: %+v", f)
	}
}
