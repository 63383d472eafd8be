package main_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"hdqs/internal/testkit"
)

// TestFaultySite breaks several files of a site at once, each in another way. What cannot be used
// keeps its last good copy and is stale in the report, in the snapshot and by the exit code. The
// tables are as before, and nothing is stale once the site is repaired. internal/fetch has the ways
// in which downloads fail.
func TestFaultySite(t *testing.T) {
	parallel(t)
	site, dir := newSite(t), t.TempDir()
	store := filepath.Join(dir, "store")
	mustExit(t, 0, site.builds(dir)...)
	before, _ := inspect(t, store)

	faults := siteFaults()
	site.breakFiles(t, faults)
	summary := filepath.Join(dir, "summary.md")
	o := mustExit(t, 5, site.builds(dir, "--download-timeout", "20s", "--max-download", "3000000", "--json",
		"--markdown", summary)...)
	checkFaults(t, faults, o)
	text := string(testkit.ReadFile(t, summary))
	if !strings.Contains(text, "**partial**") || !strings.Contains(text, "stale since 2026-11-21") {
		t.Errorf("the summary does not report stale sources:\n%s", text)
	}
	sameRows(t, store, before)
	text = mustExit(t, 0, "inspect", "--store", store).stdout
	if !strings.Contains(text, "stale since 2026-11-21T01:02:00Z: idps/") {
		t.Errorf("inspect does not list what is stale:\n%.2000s", text)
	}
	table := regexp.MustCompile(`(?m)^conflict_event .* 2025-06-07, stale since 2026-11-21 `)
	if !table.MatchString(text) {
		t.Errorf("inspect does not mark a table that is stale:\n%.2000s", text)
	}
	text = mustExit(t, 0, "inspect", "--store", store, "--datasets").stdout
	dataset := regexp.MustCompile(`(?m)^eth-mpi +Poverty Lab, .* Creative Commons .* 2026-10-01 +poverty_rate +Ethiopia: `)
	if !dataset.MatchString(text) {
		t.Errorf("inspect does not list the datasets:\n%.2000s", text)
	}

	site.repair(faults)
	r := decode[sourceReport](t, []byte(mustExit(t, 0, site.builds(dir, "--json")...).stdout))
	if r.Partial || len(r.Stale) > 0 {
		t.Errorf("stale after the repair: %+v", r.Stale)
	}
	sameRows(t, store, before)
	if text := mustExit(t, 0, "inspect", "--store", store).stdout; strings.Contains(text, "stale") {
		t.Errorf("inspect still lists stale sources:\n%.2000s", text)
	}
}

// breakFiles sets all faults. Two files fail only for the first of their requests.
func (s *publishedSite) breakFiles(t *testing.T, faults []siteFault) {
	t.Helper()
	s.Lock()
	defer s.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range faults {
		s.Modified[f.path] = "2026-11-22T00:00:00"
		if f.answer != nil {
			s.faults[f.path] = f.answer
		}
		if f.content != nil {
			s.Override[f.path] = f.content(testkit.ReadFile(t, filepath.Join(s.files, f.path)))
		}
		if _, err := os.Stat(filepath.Join(s.files, f.path)); err != nil {
			t.Errorf("%s: the catalog has no such file", f.path)
		}
	}
	s.faults["national-risk/hdx_hapi_national_risk_global.csv"] = s.once(status(429, "Retry-After", "1"))
	s.faults["conflict-events/hdx_hapi_conflict_event_global_2026.csv"] = s.once(status(502))
}

// once returns a fault that answers the first request only. Files are downloaded two at a time.
func (s *publishedSite) once(fault http.HandlerFunc) http.HandlerFunc {
	var requests atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			fault(w, r)
			return
		}
		s.Site.ServeHTTP(w, r)
	}
}

// repair removes all faults and gives their files a later time of change.
func (s *publishedSite) repair(faults []siteFault) {
	s.Lock()
	defer s.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.faults)
	clear(s.Override)
	for _, f := range faults {
		s.Modified[f.path] = "2026-11-23T00:00:00"
	}
}

// checkFaults compares the report of a load with the faults.
func checkFaults(t *testing.T, faults []siteFault, o cmdResult) {
	t.Helper()
	r := decode[sourceReport](t, []byte(o.stdout))
	if !r.Partial || r.Fetched.Retries == 0 {
		t.Errorf("partial %t, %d retries; want a partial load with retries", r.Partial, r.Fetched.Retries)
	}
	var stale []string
	for _, s := range r.Stale {
		stale = append(stale, s.Path)
	}
	for _, f := range faults {
		state, why := r.source(f.path)
		if state != f.state || !strings.Contains(why, f.says) {
			t.Errorf("%s, %s: %s: %s; want %s: %s", f.name, f.path, state, why, f.state, f.says)
		}
		if f.state == "stale" && (!slices.Contains(stale, f.path) || !strings.Contains(o.stderr, f.path)) {
			t.Errorf("%s: %s is not reported as stale on stdout and stderr", f.name, f.path)
		}
	}
}

// sameRows checks that a store has the tables of before.
func sameRows(t *testing.T, store string, before snapshotView) {
	t.Helper()
	after, _ := inspect(t, store)
	for i, table := range after.Tables {
		// Two tables contain the times of download; nothing else may change.
		hasTimes := table.Table == "resource" || table.Table == "data_availability"
		if table.SHA256 != before.Tables[i].SHA256 && !hasTimes {
			t.Errorf("table %s has changed", table.Table)
		}
	}
}

// TestServeFromSite: a server that loads a catalog itself follows its changes and keeps its rows
// when the site fails. If the first load fails it exits with the code for upstream failures.
func TestServeFromSite(t *testing.T) {
	parallel(t)
	site, dir := newSite(t), t.TempDir()
	mustExit(t, 3, "serve", "--catalog", site.url, "--data-dir", filepath.Join(dir, "other"), "--allow-http",
		"--allow-private-hosts", "--allow-host", "catalog.example")
	s := serve(t, "--catalog", site.url, "--refresh", "1s", "--data-dir", dir, "--identifier", "off", "--allow-http",
		"--allow-private-hosts", "--download-timeout", "20s", "--catalog-url", "https://catalog.example.org",
		"--location-list", filepath.Join(site.files, "reference", "location.csv"))
	const funding, path = "funding/hdx_hapi_funding_global.csv", "/api/v2/coordination-context/funding?limit=1"
	total := func() string { return ask(t, "GET", s.base+path).header.Get("X-Total-Count") }
	before := total()
	data := bytes.TrimRight(testkit.ReadFile(t, filepath.Join(site.files, funding)), "\r\n")
	set := func(text []byte, modified string, fault func(http.ResponseWriter, *http.Request)) {
		site.Lock()
		site.mu.Lock()
		site.Override[funding], site.Modified[funding] = text, modified
		if delete(site.faults, funding); fault != nil {
			site.faults[funding] = fault
		}
		site.mu.Unlock()
		site.Unlock()
	}
	set(data[:bytes.LastIndexByte(data, '\n')+1], "2026-11-22T00:00:00", nil)
	testkit.WaitFor(t, "the changed rows", func() bool { return total() != before })
	changed := total()
	set([]byte("<html>"), "2026-11-23T00:00:00", status(503))
	testkit.WaitFor(t, "a refresh with a stale source", func() bool { return s.logged("stale=1") })
	if now := total(); now != changed {
		t.Errorf("%s rows while the site fails, %s before", now, changed)
	}
	set([]byte("<html>"), "2026-11-23T12:00:00", status(406))
	testkit.WaitFor(t, "a refresh that names the block", func() bool { return s.logged("say who you are") })
	if now := total(); now != changed {
		t.Errorf("%s rows while the site refuses, %s before", now, changed)
	}
	set(data, "2026-11-24T00:00:00", nil)
	testkit.WaitFor(t, "the first rows again", func() bool { return total() == before })
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.log)
	}
}
