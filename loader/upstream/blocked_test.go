//go:build !race

package upstream

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"testing"
	"time"

	"hdqs/internal/testkit"
	"hdqs/loader"
	"hdqs/loader/catalogfile"
	"hdqs/loader/sample"
	"hdqs/snapshot/store"
)

// blocks are the ways in which the portal has been seen to refuse programs.
var blocks = map[string]func(http.ResponseWriter){
	"bot, 403": func(w http.ResponseWriter) { http.Error(w, "Blocked due to bot activity", http.StatusForbidden) },
	"bot, 429": func(w http.ResponseWriter) {
		http.Error(w, "Blocked due to bot activity", http.StatusTooManyRequests)
	},
	"406": func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotAcceptable) },
	"429 for an hour": func(w http.ResponseWriter) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	},
	"page, 403": func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, "<!DOCTYPE html><html><title>Forbidden</title></html>")
	},
}

// remedies are what the fault says can be done.
var remedies = []string{
	"the site blocks this address or this program", "--user-agent", "--request-pause", "HTTPS_PROXY", "hdqs mirror",
}

func namesBlock(text string) bool {
	for _, remedy := range remedies {
		if !strings.Contains(text, remedy) {
			return false
		}
	}
	return true
}

// TestBlocked: a portal that refuses every request, or those for single datasets in the middle of
// the list, leaves all files as they were, says what to do, and is asked a few times instead of
// once for each file. Without a copy the load fails.
func TestBlocked(t *testing.T) {
	t.Parallel()
	for name, block := range blocks {
		for _, below := range []string{"", "/package_show"} {
			server, o := site(t)
			server.Edit = func(pkg map[string]any) {
				if pkg["name"] == "global-pcodes" { // published by others, so asked for by its name
					pkg["organization"] = map[string]any{"name": "itos"}
				}
			}
			o.Fetch.BackoffMax = time.Minute // a block lasts until the end of the sync
			full := mustSync(t, o)
			asked := 0
			server.Lock()
			server.Fault = func(w http.ResponseWriter, r *http.Request) bool {
				isBlocked := strings.HasSuffix(r.URL.Path, below)
				if isBlocked {
					asked++
					block(w)
				}
				return isBlocked
			}
			server.Unlock()
			s := mustSync(t, o)
			sameTree(t, s.Dir)
			if len(s.Files) != len(full.Files) || len(s.Notes) == 0 || !namesBlock(s.Notes[0]) {
				t.Errorf("%s: %d of %d files, notes %q", name, len(s.Files), len(full.Files), s.Notes)
			}
			for _, f := range s.Files { // a search may find packages while single datasets are refused
				isFound := below != "" && f.Role == catalogfile.PackageRole && f.State != loader.SourceRefused
				if f.State != loader.SourceStale && !isFound {
					t.Errorf("%s: %s is %v: %s", name, f.Path, f.State, f.Why)
				}
			}
			server.Lock()
			if asked > 2*o.Fetch.Tries || !namesBlock(s.Trouble()) {
				t.Errorf("%s: %d requests to a site that refuses them; the trouble is %q", name, asked, s.Trouble())
			}
			server.Unlock()
			o.Cache = t.TempDir()
			if _, err := Sync(t.Context(), o); !errors.Is(err, ErrUnreachable) || !namesBlock(err.Error()) {
				t.Errorf("%s, no copy: %v", name, err)
			}
		}
	}
}

// TestBlockedWhileDownloading: files that were not refused are new, the others stay as they were,
// and the block is asked for once only.
func TestBlockedWhileDownloading(t *testing.T) {
	t.Parallel()
	server, o := site(t)
	o.Fetch.BackoffMax = time.Minute // the block lasts until the end of the sync
	mustSync(t, o)
	files, asked := 0, 0
	server.Lock()
	err := fs.WalkDir(sample.FS, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && path.Ext(p) == ".csv" && !d.IsDir() {
			server.Modified[p] = "2026-11-22T00:00:00"
			files++
		}
		return err
	})
	server.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		downloads := strings.HasPrefix(r.URL.Path, "/dataset/")
		if downloads {
			asked++
		}
		if downloads && asked > 5 {
			blocks["406"](w)
			return true
		}
		return false
	}
	server.Unlock()
	testkit.Must(t, err)
	s := mustSync(t, o)
	sameTree(t, s.Dir)
	named := 0
	for _, f := range s.Files {
		if f.State == loader.SourceStale && namesBlock(f.Why) {
			named++
		} else if f.State == loader.SourceStale && !strings.Contains(f.Why, "blocks requests") {
			t.Errorf("%s: %s", f.Path, f.Why)
		}
		if stale := f.State == loader.SourceStale; f.Blocked != stale || f.NotAsked != (stale && !namesBlock(f.Why)) {
			t.Errorf("%s: blocked %v, not asked for %v: %s", f.Path, f.Blocked, f.NotAsked, f.Why)
		}
	}
	if !namesBlock(s.Trouble()) {
		t.Errorf("the trouble is %q", s.Trouble())
	}
	if named == 0 {
		t.Error("no file names the remedies")
	}
	server.Lock()
	defer server.Unlock()
	if stale := s.Count(loader.SourceStale); stale == 0 || asked > 5+2 || stale < files/2 { // two at once
		t.Errorf("%d stale, %d downloads asked for, of %d files", stale, asked, files)
	}
}

// TestNeedsOfANewYear: a resource of humanitarian needs for a new year whose columns have other
// names is named with them. The rows of the years before stay.
func TestNeedsOfANewYear(t *testing.T) {
	t.Parallel()
	const role, old = "humanitarian-needs", "humanitarian-needs/hdx_hapi_humanitarian_needs_global_2026.csv"
	next := strings.Replace(old, "2026", "2027", 1)
	server, o := site(t)
	st, err := store.Open(t.TempDir())
	testkit.Must(t, err)
	before := load(t, mustSync(t, o), st, 0)
	data, err := fs.ReadFile(sample.FS, old)
	testkit.Must(t, err)
	drifted := bytes.Replace(data, []byte("population_status"), []byte("pin_status"), 1)
	if bytes.Equal(drifted, data) {
		t.Fatal("the header has no population_status")
	}
	server.Lock()
	server.Override[next] = drifted
	server.Edit = func(pkg map[string]any) {
		resources, _ := pkg["resources"].([]any)
		for _, r := range resources {
			resource := r.(map[string]any)
			if url := fmt.Sprint(resource["url"]); strings.HasSuffix(url, old) {
				pkg["resources"] = append(resources, map[string]any{
					"id": "needs-2027", "name": "Global Affected People: Humanitarian Needs 2027", "format": "CSV",
					"size": len(drifted), "state": "active", "last_modified": "2026-12-01T00:00:00",
					"url": strings.ReplaceAll(url, "2026", "2027"),
				})
			}
		}
	}
	server.Unlock()
	s := mustSync(t, o)
	if f := stateOf(t, s, next); !strings.Contains(f.Why, "2027.csv") {
		t.Errorf("the sync says %s %q", f.State, f.Why)
	}
	after := load(t, s, st, 1)
	said := ""
	for _, stale := range after.Stale {
		if stale.Role == role {
			said += stale.Why
		}
	}
	for _, want := range []string{"2027.csv", "lacks population_status", "pin_status"} {
		if !strings.Contains(said, want) {
			t.Errorf("the report says %q, want %q in it", said, want)
		}
	}
	if a, b := tableIn(before, role), tableIn(after, role); a.SHA256 != b.SHA256 || a.Rows == 0 {
		t.Errorf("%d rows before, %d after, %s and %s", a.Rows, b.Rows, a.SHA256, b.SHA256)
	}
}
