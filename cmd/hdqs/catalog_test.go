package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/internal/testkit"
)

// TestFaultySite breaks many files of a site at once, each in another way. What cannot be used
// keeps its last good copy and is stale in the report, in the snapshot and by the exit code. The
// tables are as before, and nothing is stale once the site is repaired.
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

// TestKilledDownload kills a load during its downloads: the store is unchanged, and the next load
// requests only what is missing.
func TestKilledDownload(t *testing.T) {
	parallel(t)
	site, dir := newSite(t), t.TempDir()
	const big = "idps/hdx_hapi_idps_global.csv"
	data := testkit.ReadFile(t, filepath.Join(site.files, big))
	whole := t.TempDir()
	mustExit(t, 0, site.builds(whole)...)
	site.asked = map[string][]string{}
	sent := make(chan struct{})
	var once sync.Once
	var requests atomic.Int64
	site.faults[big] = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"of-this-file"`)
		if requests.Add(1) > 1 {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data[:len(data)/2])
		w.(http.Flusher).Flush()
		once.Do(func() { close(sent) })
		<-r.Context().Done()
	}
	cmd := exec.Command(binary, site.builds(dir)...)
	cmd.Env = environment()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-sent:
	case <-time.After(testkit.Patience):
		t.Error("the file was not requested")
	}
	all := len(cachedFiles(t, whole))
	if all <= 20 {
		t.Fatalf("only %d files: this tests too little", all)
	}
	testkit.WaitFor(t, "the other files and half of the large one", func() bool {
		parts := filepath.Join(dir, "catalogs", "*", "parts", "*")
		return len(cachedFiles(t, dir)) == all-1 && hasFileOf(t, parts, len(data)/2)
	})
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if _, err := os.Stat(filepath.Join(dir, "store", "channels")); err == nil {
		t.Error("a killed download has published something")
	}
	site.mu.Lock()
	first := site.asked
	site.asked = map[string][]string{}
	site.mu.Unlock()

	r := decode[sourceReport](t, []byte(mustExit(t, 0, site.builds(dir, "--json")...).stdout))
	if r.Outcome != "published" {
		t.Errorf("outcome %s", r.Outcome)
	}
	if want := []string{fmt.Sprintf("bytes=%d-", len(data)/2)}; !slices.Equal(site.asked[big], want) {
		t.Errorf("requested ranges of the incomplete file: %q, want %q", site.asked[big], want)
	}
	if len(site.asked) > 2 {
		t.Errorf("%d of %d files were requested again: %v", len(site.asked), len(first), site.asked)
	}
	got, _ := inspect(t, filepath.Join(dir, "store"))
	want, _ := inspect(t, sampleStore(t))
	if fmt.Sprint(tableSums(got)) == "" || tableSums(got)["idps"] != tableSums(want)["idps"] {
		t.Error("the table of the resumed file differs from that of the complete file")
	}
}

// cachedFiles returns the files that a load has downloaded, from the index of its cache.
func cachedFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	index, err := filepath.Glob(filepath.Join(dir, "catalogs", "*", "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range index {
		for name, entry := range decode[map[string]struct {
			LastModified string `json:"last_modified"`
		}](t, testkit.ReadFile(t, path)) {
			if entry.LastModified != "" { // the other entries are short texts
				names = append(names, name)
			}
		}
	}
	return names
}

// hasFileOf reports whether a file that matches a pattern has the given size.
func hasFileOf(t *testing.T, pattern string, size int) bool {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() == int64(size)
	})
}

func tableSums(v snapshotView) map[string]string {
	sums := map[string]string{}
	for _, table := range v.Tables {
		sums[table.Table] = table.SHA256
	}
	return sums
}

// TestPlanAndRefresh: a dry run downloads nothing and lists what a load would download. A load
// without changes opens no segment, and one changed file rebuilds one table.
func TestPlanAndRefresh(t *testing.T) {
	parallel(t)
	site, dir := newSite(t), t.TempDir()
	plan := site.builds(dir, "--dry-run", "--json")
	var planned struct {
		Files []struct {
			State string
			Bytes int64
		}
	}
	count := func(args []string, state string) int {
		t.Helper()
		if err := json.Unmarshal([]byte(mustExit(t, 0, args...).stdout), &planned); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, f := range planned.Files {
			if f.State == state {
				n++
			}
		}
		return n
	}
	if n := count(plan, "new"); n < 20 || len(site.asked) > 0 {
		t.Errorf("%d files planned, want 20 or more; %d downloaded, want 0", n, len(site.asked))
	}
	if _, err := os.Stat(filepath.Join(dir, "store")); err == nil {
		t.Error("a dry run has made a store")
	}
	mustExit(t, 0, site.builds(dir)...)
	if n := count(plan, "new"); n != 0 {
		t.Errorf("after the load %d files are planned, want 0", n)
	}
	// Segments that cannot be read prove that the load opens none.
	segments, err := filepath.Glob(filepath.Join(dir, "store", "segments", "*"))
	if err != nil || len(segments) != len(contract.Endpoints) {
		t.Fatal(len(segments), err)
	}
	kept := map[string][]byte{}
	for _, s := range segments {
		kept[s] = testkit.ReadFile(t, s)
		change(t, s, func(b []byte) []byte { return make([]byte, len(b)) })
	}
	r := decode[sourceReport](t, []byte(mustExit(t, 0, site.builds(dir, "--json")...).stdout))
	if r.Outcome != "unchanged" || len(r.Tables) != len(contract.Endpoints) {
		t.Errorf("outcome %s, %d tables", r.Outcome, len(r.Tables))
	}
	for path, data := range kept {
		change(t, path, func([]byte) []byte { return data })
	}
	const funding = "funding/hdx_hapi_funding_global.csv"
	data := bytes.TrimRight(testkit.ReadFile(t, filepath.Join(site.files, funding)), "\r\n")
	site.Lock()
	site.Override[funding] = data[:bytes.LastIndexByte(data, '\n')+1]
	site.Modified[funding] = "2026-11-22T00:00:00"
	site.Unlock()
	if n := count(plan, "new"); n != 1 {
		t.Errorf("%d changed files are planned, want 1", n)
	}
	r = decode[sourceReport](t, []byte(mustExit(t, 0, site.builds(dir, "--json")...).stdout))
	others := strings.Fields("dataset resource location admin1 admin2 currency org org_type sector commodity market " +
		"data_availability")
	var rebuilt []string
	for _, table := range r.Tables {
		if !slices.Contains(others, table.Table) && !table.Reused {
			rebuilt = append(rebuilt, table.Table)
		}
	}
	if !slices.Equal(rebuilt, []string{"funding"}) {
		t.Errorf("rebuilt tables: %v, want funding", rebuilt)
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
	set(data, "2026-11-24T00:00:00", nil)
	testkit.WaitFor(t, "the first rows again", func() bool { return total() == before })
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.log)
	}
}
