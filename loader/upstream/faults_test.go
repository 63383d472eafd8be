//go:build !race

package upstream

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"hdqs/loader"
)

// TestStale: what cannot be read is taken from the last good copy, and what never could is refused;
// the rest goes on.
func TestStale(t *testing.T) {
	t.Parallel()
	server, o := site(t)
	mustSync(t, o)
	for name, fault := range map[string]func(http.ResponseWriter){
		"error":        func(w http.ResponseWriter) { w.WriteHeader(502) },
		"page":         func(w http.ResponseWriter) { fmt.Fprint(w, "<html>The site is being maintained</html>") },
		"empty answer": func(w http.ResponseWriter) { w.WriteHeader(202) },
	} {
		server.Lock()
		server.Modified[conflict] = "2026-11-22T00:00:00 " + name
		server.Fault = func(w http.ResponseWriter, r *http.Request) bool {
			broken := strings.HasPrefix(r.URL.Path, "/dataset/") && r.URL.Query().Get("path") == conflict
			if broken {
				fault(w)
			}
			return broken
		}
		server.Unlock()
		s := mustSync(t, o)
		stale, refused := s.Count(loader.SourceStale), s.Count(loader.SourceRefused)
		if f := stateOf(t, s, conflict); f.State != loader.SourceStale || f.Why == "" || stale != 1 || refused != 0 {
			t.Errorf("%s: %+v, %d stale, %d refused", name, f, stale, refused)
		}
		sameTree(t, s.Dir)

		fresh := o
		fresh.Cache = t.TempDir()
		s = mustSync(t, fresh)
		if f := stateOf(t, s, conflict); f.State != loader.SourceRefused || s.Count(loader.SourceRefused) != 1 {
			t.Errorf("%s, no copy: %+v", name, f)
		}
		if _, err := os.Stat(filepath.Join(s.Dir, conflict)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a refused file is in the tree: %v", name, err)
		}
	}
}

// TestHostileLinks: a site whose lists lead elsewhere than to files of the catalog is not followed,
// whatever way the link goes.
func TestHostileLinks(t *testing.T) {
	t.Parallel()
	reached := new(atomic.Int64)
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer inner.Close()
	port := inner.URL[strings.LastIndexByte(inner.URL, ':'):]
	asked := 0
	for _, to := range []string{
		"http://169.254.169.254/latest/meta-data/", "http://localhost" + port, "http://[::1]" +
			port, "http://metadata.google.internal/", "file:///etc/passwd",
		"gopher://127.0.0.1" + port, "http://127.0.0.1@localhost" + port, "//localhost" + port, "",
	} {
		server, o := site(t)
		server.Edit = func(pkg map[string]any) {
			for _, r := range resourcesOf(pkg) {
				if strings.HasSuffix(fmt.Sprint(r["url"]), "path="+presence) {
					r["url"] = to
				}
			}
		}
		o.Only, o.Fetch.Hosts = []string{"operational-presence"}, []string{"127.0.0.1"}
		s := mustSync(t, o)
		at := slices.IndexFunc(s.Files, func(f FileState) bool { return f.Role == "operational-presence" })
		if at < 0 {
			continue // not listed: nothing is asked for
		}
		asked++
		if f := s.Files[at]; f.State != loader.SourceRefused || !strings.Contains(f.Why, "address refused") {
			t.Errorf("%q: %s: %s", to, f.State, f.Why)
		}
	}
	if asked < 5 {
		t.Errorf("%d links were looked at: this tests too little", asked)
	}
	if reached.Load() > 0 {
		t.Errorf("%d requests reached the inner server", reached.Load())
	}
}

// TestNoListing: if the datasets of the organization cannot be listed, all packages are there
// still.
func TestNoListing(t *testing.T) {
	t.Parallel()
	server, o := site(t)
	first := mustSync(t, o)
	server.Lock()
	server.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		fails := strings.HasPrefix(r.URL.Query().Get("fq"), "organization:")
		if fails {
			w.WriteHeader(http.StatusBadGateway)
		}
		return fails
	}
	server.Unlock()
	if s := mustSync(t, o); s.Packages != first.Packages || s.Count(loader.SourceStale) == 0 {
		t.Errorf("%d packages, %d before; %d stale", s.Packages, first.Packages, s.Count(loader.SourceStale))
	}
}
