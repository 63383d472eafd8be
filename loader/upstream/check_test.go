//go:build !race

package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"hdqs/internal/ckantest"
	"hdqs/internal/testkit"
	"hdqs/loader"
	"hdqs/loader/catalogfile"
	"hdqs/loader/sample"
)

// TestCheck: a file that a load would not use does not take the place of a good copy, and is not
// read again until it changes or the program does. Where there is no copy it is taken, with a
// doubt, and gives way to whatever comes next.
func TestCheck(t *testing.T) {
	t.Parallel()
	server, o := site(t)
	reads := 0
	o.Check = func(_ context.Context, role, name, file string) ([]string, error) {
		data, err := os.ReadFile(file)
		if name == presence {
			reads++
		}
		if err != nil || role == "" || strings.HasPrefix(string(data), "drifted") {
			return nil, errors.Join(errors.New("header has drifted"), err)
		}
		return nil, nil
	}
	set := func(text, modified string) {
		server.Lock()
		defer server.Unlock()
		server.Modified[presence] = modified
		if delete(server.Override, presence); text != "" {
			server.Override[presence] = []byte(text)
		}
	}
	state := func(what, want string) {
		t.Helper()
		s := mustSync(t, o)
		f := stateOf(t, s, presence)
		if f.State != want || (strings.Contains(f.Why, "drifted") != (what == "drifted" || what == "first drifted")) {
			t.Errorf("%s: %s %q, want %s", what, f.State, f.Why, want)
		}
		if what != "first drifted" {
			sameTree(t, s.Dir)
		}
	}
	state("first", loader.SourceNew)
	set("drifted,header\n", "2026-11-22T00:00:00")
	state("drifted", loader.SourceStale)
	state("drifted", loader.SourceStale)
	if reads != 2 {
		t.Errorf("the drifted file was read %d times, want once", reads-1)
	}
	o.Fetch.UserAgent = "hdqs/next"
	state("drifted", loader.SourceStale)
	if reads != 3 {
		t.Error("another program did not look at the drifted file")
	}
	set("", "2026-11-23T00:00:00")
	state("mended", loader.SourceNew)
	state("mended", loader.SourceUnchanged)

	o.Cache = t.TempDir()
	set("drifted,header\n", "2026-11-24T00:00:00")
	state("first drifted", loader.SourceNew)
	state("first drifted", loader.SourceUnchanged)
	set("drifted,once more\n", "2026-11-25T00:00:00")
	state("first drifted", loader.SourceNew)
	set("", "2026-11-26T00:00:00")
	state("mended", loader.SourceNew)
}

// TestDatasetsFromCheck checks that the packages of rows come from the check of a download: files
// that have not changed are not read for them. Copies in a cache that an older program left are,
// once.
func TestDatasetsFromCheck(t *testing.T) {
	t.Parallel()
	server, o := site(t)
	var mu sync.Mutex
	checked := map[string]int{}
	o.Check = func(ctx context.Context, role, name, file string) ([]string, error) {
		mu.Lock()
		checked[name]++
		mu.Unlock()
		return loaderCheck(ctx, role, name, file)
	}
	first := mustSync(t, o)
	second := mustSync(t, o)
	if first.Packages < 50 || second.Packages != first.Packages {
		t.Errorf("%d packages, then %d", first.Packages, second.Packages)
	}
	for name, n := range checked {
		if n != 1 {
			t.Errorf("%s was checked %d times", name, n)
		}
	}

	// The index of an older program, without datasets.
	c := testkit.Value(openCache(o.Cache))(t)
	for key, e := range c.entries {
		e.Datasets, e.Scanned = nil, false
		c.entries[key] = e
	}
	testkit.Must(t, c.saveForNow())
	files := downloadsOf(server)
	for range 2 {
		if s := mustSync(t, o); s.Packages != first.Packages || downloadsOf(server) != files {
			t.Errorf("%d packages, want %d; %d downloads", s.Packages, first.Packages, downloadsOf(server)-files)
		}
	}
	if checked[presence] != 2 || checked["reference/org.csv"] != 1 {
		t.Errorf("a data file was checked %d times, a list %d times; want 2 and 1",
			checked[presence], checked["reference/org.csv"])
	}
}

// TestStoppedCheck checks that a file whose check was interrupted counts neither as good nor as
// bad.
func TestStoppedCheck(t *testing.T) {
	t.Parallel()
	_, o := site(t)
	ctx, cancel := context.WithCancel(t.Context())
	stopped := o
	stopped.Check = func(ctx context.Context, _, name, _ string) ([]string, error) {
		if name == presence {
			cancel()
		}
		return nil, ctx.Err()
	}
	if _, err := Sync(ctx, stopped); !errors.Is(err, context.Canceled) {
		t.Fatalf("stopped: %v", err)
	}
	s := mustSync(t, o)
	if f := stateOf(t, s, presence); f.State != loader.SourceNew || f.Why != "" {
		t.Errorf("afterwards: %s, %q", f.State, f.Why)
	}
}

// TestRiskWorkbook: a site without the CSV form of the national risk index gives the first workbook
// of the index.
func TestRiskWorkbook(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"inform-risk-index-2021", "inform-risk-index"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkRiskWorkbook(t, name)
		})
	}
}

// checkRiskWorkbook loads from a site whose workbook is in a package of this name.
func checkRiskWorkbook(t *testing.T, name string) {
	s := &ckantest.Site{}
	server := httptest.NewServer(s)
	defer server.Close()
	files := fstest.MapFS{}
	err := fs.WalkDir(sample.FS, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "packages/inform") {
			return err
		}
		data, err := fs.ReadFile(sample.FS, path)
		files[path] = &fstest.MapFile{Data: data}
		return err
	})
	testkit.Must(t, err)
	var c catalogfile.File
	testkit.Must(t, json.Unmarshal(files["catalog.json"].Data, &c))
	var kept []catalogfile.Entry
	for _, r := range c.Resources {
		if r.Role != catalogfile.RiskRole {
			kept = append(kept, r)
		}
	}
	c.Resources = kept
	const book, id = "PK\x03\x04 as published", "603e40eb-aaaa-47e2-b8ac-e51961c7d661"
	resource := func(id, format, file string) ckanResource {
		link := server.URL + "/dataset/x/resource/" + id + "/download/" + file + "?path=" + file
		return ckanResource{
			ID: catalogfile.Text(id), Name: catalogfile.Text(file), Format: catalogfile.Text(format),
			LastModified: "2026-01-01T00:00:00", URL: catalogfile.Text(link), State: "active",
		}
	}
	pack := ckanPackage{
		ID: "f5ec2ee7-aaaa-451b-864b-70bdb582a022", Name: catalogfile.Text(name), State: "active",
		Resources: []ckanResource{
			resource("11111111-aaaa-47e2-b8ac-e51961c7d661", "PDF", "guide.pdf"), resource(id, "XLSX",
				"index.xlsx"), resource("22222222-aaaa-47e2-b8ac-e51961c7d661", "XLSX", "trend.xlsx"),
		},
	}
	for path, v := range map[string]any{"catalog.json": c, "packages/inform.json": pack} {
		data := testkit.Value(json.Marshal(v))(t)
		files[path] = &fstest.MapFile{Data: data}
	}
	files["index.xlsx"] = &fstest.MapFile{Data: []byte(book)}
	s.Lock()
	s.Files = files
	s.Unlock()
	o := Options{Source: server.URL, Cache: t.TempDir(), Fetch: testFetch()}
	sum := mustSync(t, o)
	const path = "national-risk/" + id + ".xlsx"
	if f := stateOf(t, sum, path); f.State != loader.SourceNew {
		t.Errorf("workbook: %+v", f)
	}
	if data, err := os.ReadFile(filepath.Join(sum.Dir, path)); err != nil || string(data) != book {
		t.Errorf("in the tree: %q, %v", data, err)
	}
	if notes := strings.Join(sum.Notes, "\n"); !strings.Contains(notes, name) {
		t.Errorf("notes: %s", notes)
	}
	s.Lock() // INFORM's own CSV comes instead of the workbook
	s.Edit = func(pkg map[string]any) {
		if pkg["name"] == name {
			for _, r := range resourcesOf(pkg)[1:2] {
				r["id"], r["name"], r["format"] = "33333333-aaaa-47e2-b8ac-e51961c7d661", "INFORM Risk 2026", "CSV"
			}
		}
	}
	s.Unlock()
	sum = mustSync(t, o)
	if f := stateOf(t, sum, path); f.State != loader.SourceStale {
		t.Errorf("workbook that is gone: %+v", f)
	}
	stateOf(t, sum, name+"/33333333-aaaa-47e2-b8ac-e51961c7d661")
	if n := sum.Count(loader.SourceRefused); n != 1 {
		t.Errorf("%d refused, want INFORM's CSV", n)
	}
}

// TestStoppedSync: a sync that is stopped keeps what it has read; the next one asks for the rest
// only.
func TestStoppedSync(t *testing.T) {
	t.Parallel()
	server, o := site(t)
	ctx, cancel := context.WithCancel(t.Context())
	server.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
		if server.Requests["file"] >= 15 && strings.HasPrefix(r.URL.Path, "/dataset/") {
			cancel()
		}
		return false
	}
	if _, err := Sync(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("stopped: %v", err)
	}
	server.Lock()
	before := server.Requests["file"]
	server.Fault = nil
	server.Unlock()
	s := mustSync(t, o)
	sameTree(t, s.Dir)
	if n := s.Count(loader.SourceUnchanged); n < 13 || downloadsOf(server)-before > len(s.Files)-s.Packages-13 {
		t.Errorf("%d files taken up, %d asked for after %d", n, downloadsOf(server)-before, before)
	}
}
