package upstream

import (
	"crypto/md5"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/internal/testkit"
	"hdqs/loader"
	"hdqs/loader/sample"
	"hdqs/schema"
	"hdqs/snapshot/store"
)

// resourcesOf are the resources of a package that a site serves.
func resourcesOf(pkg map[string]any) (all []map[string]any) {
	resources, _ := pkg["resources"].([]any)
	for _, r := range resources {
		resource, _ := r.(map[string]any)
		all = append(all, resource)
	}
	return all
}

// eventsDataset has files of several years in the sample.
const eventsDataset = "hdx-hapi-conflict-event"

// callFiles gives the files of the conflict events other names in their addresses.
func callFiles(names ...string) func(map[string]any) {
	return func(pkg map[string]any) {
		if pkg["name"] != eventsDataset {
			return
		}
		for i, r := range resourcesOf(pkg)[:len(names)] {
			before, after, _ := strings.Cut(fmt.Sprint(r["url"]), "/download/")
			_, query, _ := strings.Cut(after, "?")
			r["url"] = before + "/download/" + names[i] + "?" + query
		}
	}
}

// load loads what a sync has brought.
func load(t *testing.T, s *Summary, st *store.Store, n int) *loader.Report {
	t.Helper()
	r, err := loader.Build(t.Context(), loader.Options{
		Catalog: os.DirFS(s.Dir), CatalogName: "test", Store: st, CatalogURL: "https://site.example",
		SnapshotTime: somewhere.Add(time.Duration(n) * time.Hour), Fetched: &s.FetchReport,
	})
	testkit.Must(t, err)
	return r
}

var somewhere = time.Date(2026, 11, 21, 1, 2, 0, 0, time.UTC)

func tableIn(r *loader.Report, role string) loader.TableReport {
	return r.Tables[slices.IndexFunc(r.Tables, func(t loader.TableReport) bool {
		return schema.Of(t.Table).Source.Role == role
	})]
}

// TestSameFileNames: files whose names are the same, or become the same, are all read.
func TestSameFileNames(t *testing.T) {
	t.Parallel()
	_, o := site(t)
	st := testkit.Value(store.Open(t.TempDir()))(t)
	want := tableIn(load(t, mustSync(t, o), st, 0), "conflict-events").Rows
	for _, names := range [][]string{
		{"data.csv", "data.csv"},
		{"events%20a.csv", "events+a.csv"},
		{"Data.csv", "data.csv"},
		{"%C3%A9.csv", "%C3%A8.csv"},
		{"..data.csv", "data.csv"},
		{strings.Repeat("x", 300) + ".csv", strings.Repeat("y", 300) + ".csv"},
	} {
		server, o := site(t)
		server.Edit = callFiles(names...)
		st := testkit.Value(store.Open(t.TempDir()))(t)
		s := mustSync(t, o)
		r := load(t, s, st, 0)
		if got := tableIn(r, "conflict-events").Rows; got != want || r.Partial || s.Linked < len(s.Files) {
			t.Errorf("%.40q: %d rows, want %d; partial %t, %d of %d files linked, %q",
				names, got, want, r.Partial, s.Linked, len(s.Files), r.Losses())
		}
	}
}

// TestSecondOfOneName: a file keeps its rows when another one of its name comes.
func TestSecondOfOneName(t *testing.T) {
	t.Parallel()
	server, o := site(t)
	st := testkit.Value(store.Open(t.TempDir()))(t)
	both := callFiles("data.csv", "data.csv")
	server.Edit = func(pkg map[string]any) {
		both(pkg)
		if pkg["name"] == eventsDataset {
			all := pkg["resources"].([]any)
			pkg["resources"] = append(all[:1:1], all[2:]...)
		}
	}
	s := mustSync(t, o)
	first := tableIn(load(t, s, st, 0), "conflict-events").Rows
	stateOf(t, s, "conflict-events/data.csv")
	server.Lock()
	server.Edit = both
	server.Unlock()
	s = mustSync(t, o)
	r := load(t, s, st, 1)
	if r.Partial || tableIn(r, "conflict-events").Rows <= first {
		t.Errorf("%d rows after %d, partial %t, %q", tableIn(r, "conflict-events").Rows, first, r.Partial, r.Losses())
	}
	server.Lock()
	server.Edit = callFiles("data.csv", "other.csv") // the names differ again
	server.Unlock()
	if r = load(t, mustSync(t, o), st, 2); r.Partial {
		t.Errorf("%q", r.Losses())
	}
}

// TestPathTwice: of two entries of a tree with one path the second one is refused.
func TestPathTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testkit.Must(t, os.CopyFS(dir, sample.FS))
	file := filepath.Join(dir, "catalog.json")
	text := string(testkit.ReadFile(t, file))
	entry := `{"role": "returnees", "path": "` + conflict + `"}, `
	text = strings.Replace(text, `"resources": [`, `"resources": [`+entry, 1)
	testkit.WriteFile(t, file, []byte(text))
	s := mustSync(t, Options{Source: dir, Cache: t.TempDir(), Fetch: testFetch()})
	if n := s.Count(loader.SourceRefused); n == 0 {
		t.Error("an entry was left out without a word")
	}
}

// TestListedTwice: a resource that a package lists twice is read once. Two that differ and have one
// id are refused by name.
func TestListedTwice(t *testing.T) {
	t.Parallel()
	for _, differ := range []bool{false, true} {
		server, o := site(t)
		st := testkit.Value(store.Open(t.TempDir()))(t)
		want := tableIn(load(t, mustSync(t, o), st, 0), "conflict-events").SHA256
		server.Lock()
		server.Edit = func(pkg map[string]any) {
			if pkg["name"] == eventsDataset {
				again := maps.Clone(resourcesOf(pkg)[0])
				if differ {
					again["name"] = "Conflict Events of another year"
				}
				pkg["resources"] = append(pkg["resources"].([]any), again)
			}
		}
		server.Unlock()
		for range 2 {
			r := load(t, mustSync(t, o), st, 1)
			if got := tableIn(r, "conflict-events").SHA256; got != want || r.Partial != differ {
				t.Errorf("differ %t: another table %t, partial %t, %q", differ, got != want, r.Partial, r.Losses())
			}
			o.Cache = t.TempDir() // without copies
		}
	}
}

// TestNewHash: a file with another hash is downloaded although size and time are the same, also if
// it had none before.
func TestNewHash(t *testing.T) {
	t.Parallel()
	server, o := site(t)
	hash := ""
	server.Edit = func(pkg map[string]any) {
		if pkg["name"] == eventsDataset {
			resourcesOf(pkg)[0]["hash"] = hash
		}
	}
	step := func(next, want string, downloads int) {
		t.Helper()
		server.Lock()
		hash = next
		server.Unlock()
		before := downloadsOf(server)
		s := mustSync(t, o)
		if f := stateOf(t, s, conflict); f.State != want || downloadsOf(server)-before != downloads {
			t.Errorf("hash %q: %s (%s), %d downloads", next, f.State, f.Why, downloadsOf(server)-before)
		}
	}
	sum := func(data []byte) string { return fmt.Sprintf("%x", md5.Sum(data)) }
	old := testkit.Value(fs.ReadFile(sample.FS, conflict))(t)
	mustSync(t, o)
	step(strings.ToUpper(sum(old)), loader.SourceNew, 1) // the first night with hashes
	step(sum(old), loader.SourceUnchanged, 0)
	changed := append([]byte(nil), old...)
	changed[len(changed)-3] ^= 1 // a digit or a letter, in the last row
	server.Lock()
	server.Override[conflict] = changed
	server.Unlock()
	step(sum(changed), loader.SourceNew, 1)
	step(sum(changed), loader.SourceUnchanged, 0)
	step("a-hash-of-another-kind", loader.SourceUnchanged, 1) // asked for by its ETag
	step("a-hash-of-another-kind", loader.SourceUnchanged, 0)
}
