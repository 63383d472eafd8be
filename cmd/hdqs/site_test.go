package main_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"hdqs/internal/ckantest"
)

// publishedSite is a CKAN site with a generated catalog. A fault answers in its place for one file.
type publishedSite struct {
	*ckantest.Site
	files string
	url   string

	mu     sync.Mutex
	faults map[string]func(w http.ResponseWriter, r *http.Request)
	asked  map[string][]string // Range headers of the requests for a file
}

func newSite(t *testing.T) *publishedSite {
	t.Helper()
	files := newCatalog(t, 1)
	s := &publishedSite{
		Site:   &ckantest.Site{Files: os.DirFS(files), Override: map[string][]byte{}, Modified: map[string]string{}},
		files:  files,
		faults: map[string]func(http.ResponseWriter, *http.Request){}, asked: map[string][]string{},
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// ServeHTTP does not hold the site's lock while a fault answers.
func (s *publishedSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Query().Get("path")
	s.mu.Lock()
	fault := s.faults[path]
	if path != "" {
		s.asked[path] = append(s.asked[path], r.Header.Get("Range"))
	}
	s.mu.Unlock()
	if fault != nil {
		fault(w, r)
		return
	}
	s.Site.ServeHTTP(w, r)
}

// builds returns the command line of a load from the site.
func (s *publishedSite) builds(dir string, more ...string) []string {
	return append([]string{
		"build", "--catalog", s.url, "--store", filepath.Join(dir, "store"), "--data-dir", dir, "--snapshot-time",
		buildTime,
		"--catalog-url", "https://catalog.example.org", "--allow-http", "--allow-private-hosts", "--allow-host", "127.0.0.1",
		"--location-list", filepath.Join(s.files, "reference", "location.csv"),
	}, more...)
}

// sourceReport is what these tests read of a report's sources.
type sourceReport struct {
	Outcome string
	Partial bool
	Stale   []struct{ Role, Path, Why string }
	Fetched struct {
		Kind              string
		Requests, Retries int
		Sources           []struct{ Role, Path, State, Why string }
	}
	Tables []struct {
		Table, SHA256 string
		Reused        bool
	}
}

func (r *sourceReport) source(path string) (state, why string) {
	for _, s := range r.Fetched.Sources {
		if s.Path == path {
			return s.State, s.Why
		}
	}
	return "absent", ""
}

// siteFault is one way in which a site fails, and what a load reports about it.
type siteFault struct {
	path, name string
	state      string // stale, or new when the load must succeed
	says       string
	answer     func(w http.ResponseWriter, r *http.Request)
	content    func([]byte) []byte // what the site has now, when that is the fault
}

func status(code int, header ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

func body(code int, text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprint(w, text)
	}
}

// siteFaults lists the faults, each of another file. Tests of fetch, upstream and loader have the
// others that a file can have.
func siteFaults() []siteFault {
	return []siteFault{
		{"conflict-events/hdx_hapi_conflict_event_global_2025.csv", "500", "stale", "status 500", status(500), nil},
		{"national-risk/hdx_hapi_national_risk_global.csv", "429 for a second", "new", "", nil, bytes.Clone},
		{
			"idps/hdx_hapi_idps_global.csv", "length differs from the catalog's", "stale", "the catalog says",
			body(200, "location_code\nAFG\n"), nil,
		},
		{"conflict-events/hdx_hapi_conflict_event_global_2026.csv", "502 once", "new", "", nil, bytes.Clone},
	}
}
