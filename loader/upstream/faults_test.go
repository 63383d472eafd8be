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

	"hdqs/internal/ckantest"
	"hdqs/loader"
	"hdqs/loader/sample"
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
	good := &ckantest.Site{Files: sample.FS, Override: map[string][]byte{}, Modified: map[string]string{}}
	var link atomic.Pointer[string]
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		good.ServeHTTP(answer, r)
		for key, values := range answer.Header() {
			w.Header()[key] = values
		}
		w.WriteHeader(answer.Code)
		body := answer.Body.Bytes()
		if strings.HasPrefix(r.URL.Path, "/api/") {
			texts := strings.Split(string(body), `"`)
			for i, text := range texts {
				if strings.HasSuffix(text, "path="+presence) {
					texts[i] = *link.Load()
				}
			}
			body = []byte(strings.Join(texts, `"`))
		}
		_, _ = w.Write(body)
	}))
	defer server.Close()
	for _, to := range []string{
		"http://169.254.169.254/latest/meta-data/", "http://localhost" + port, "http://[::1]" +
			port, "http://metadata.google.internal/", "file:///etc/passwd",
		"gopher://127.0.0.1" + port, "http://127.0.0.1@localhost" + port, "//localhost" + port, "",
	} {
		link.Store(&to)
		o := Options{Source: server.URL, Cache: t.TempDir(), Fetch: testFetch(), Only: []string{"operational-presence"}}
		o.Fetch.Hosts = []string{"127.0.0.1"}
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
