package main_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/internal/ckantest"
	"hdqs/internal/testkit"
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

// drip sends a byte every 100 ms.
func drip(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		fmt.Fprint(w, "x")
		w.(http.Flusher).Flush()
		time.Sleep(100 * time.Millisecond)
	}
}

func body(code int, text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprint(w, text)
	}
}

func noAnswer(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func cutBody(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100000")
	fmt.Fprint(w, "location_code,has_hrp")
}

func endless(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := w.Write(bytes.Repeat([]byte("code,name\n"), 5000)); err != nil {
			return
		}
	}
}

func redirectLoop(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, r.URL.String()+"&again", http.StatusFound)
}

// windows returns the text with a byte order mark and with CR LF at the end of lines.
func windows(data []byte) []byte {
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
	return append([]byte("\xef\xbb\xbf"), bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))...)
}

func redirect(to string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
}

func inHeader(old, with string) func([]byte) []byte {
	return func(data []byte) []byte {
		end := bytes.IndexByte(data, '\n')
		return append(bytes.Replace(data[:end:end], []byte(old), []byte(with), 1), data[end:]...)
	}
}

// latin1 encodes a text as Western spreadsheets do: every é is one byte.
func latin1(data []byte) []byte {
	data = bytes.ReplaceAll(data, []byte("e"), []byte("é"))
	end := bytes.IndexByte(data, '\n')
	head := bytes.ReplaceAll(data[:end:end], []byte("é"), []byte("e"))
	return append(head, bytes.ReplaceAll(data[end:], []byte("é"), []byte("\xe9"))...)
}

func packed(data []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(data)
	_ = w.Close()
	return out.Bytes()
}

// siteFaults lists the faults, each of another file.
func siteFaults() []siteFault {
	const page = "<!DOCTYPE html>\n<html><title>Just a moment...</title></html>"
	return []siteFault{
		{"conflict-events/hdx_hapi_conflict_event_global_2025.csv", "500", "stale", "status 500", status(500), nil},
		{
			"funding/hdx_hapi_funding_global.csv", "429 for an hour", "stale", "asked to wait 1h0m0s",
			status(429, "Retry-After", "3600"), nil,
		},
		{"national-risk/hdx_hapi_national_risk_global.csv", "429 for a second", "new", "", nil, bytes.Clone},
		{
			"humanitarian-needs/hdx_hapi_humanitarian_needs_global_2025.csv", "403 page", "stale", "status 403",
			body(403, page), nil,
		},
		{
			"refugees-persons-of-concern/hdx_hapi_refugees_global_2015_2019.csv", "202 challenge", "stale",
			"status 202", status(202), nil,
		},
		{"returnees/hdx_hapi_returnees_global.csv", "no answer", "stale", "deadline", noAnswer, nil},
		{"idps/hdx_hapi_idps_global.csv", "slow drip", "stale", "body cut after", drip, nil},
		{
			"food-security/hdx_hapi_food_security_global.csv", "truncated body", "stale", "body cut after 21 bytes",
			cutBody, nil,
		},
		{
			"poverty-rate/hdx_hapi_poverty_rate_global.csv", "length differs from the catalog's", "stale",
			"the catalog says",
			body(200, "location_code\nAFG\n"), nil,
		},
		{
			"rainfall/hdx_hapi_rainfall_global_1yr.csv", "HTML with 200", "stale", "an HTML or XML page",
			body(200, page), nil,
		},
		{"baseline-population/hdx_hapi_population_global_hrp.csv", "unrequested gzip", "stale", "header", nil, packed},
		{
			"baseline-population/hdx_hapi_population_global_non_hrp.csv", "renamed column", "stale",
			"header lacks gender",
			nil, inHeader(",gender,", ",sex,"),
		},
		{
			"food-prices-market-monitor/hdx_hapi_food_price_global_2024.csv", "column twice", "stale",
			`column "unit" stands twice`, nil, inHeader(",unit,", ",unit,unit,"),
		},
		{
			"food-prices-market-monitor/hdx_hapi_food_price_global_2025.csv", "redirect loop", "stale",
			"more than 5 redirects", redirectLoop, nil,
		},
		{
			"operational-presence/hdx_hapi_operational_presence_global.csv", "older column name", "stale",
			"header lacks dataset_hdx_id", nil, inHeader("dataset_hdx_id", "dataset_id"),
		},
		{
			"refugees-persons-of-concern/hdx_hapi_refugees_global_2020_2024.csv", "byte order mark and CRLF", "new",
			"", nil, windows,
		},
		{"reference/org.csv", "Latin-1", "stale", "look like ISO 8859-1", nil, latin1},
		{
			"reference/market.csv", "redirect to the metadata service", "stale", "not in the list of allowed hosts",
			redirect("http://169.254.169.254/latest/meta-data/"), nil,
		},
		{
			"reference/commodity.csv", "redirect to localhost", "stale", "not in the list of allowed hosts",
			redirect("http://localhost:9/"), nil,
		},
		{"reference/currency.csv", "endless body", "stale", "size limit", endless, nil},
		{"conflict-events/hdx_hapi_conflict_event_global_2026.csv", "502 once", "new", "", nil, bytes.Clone},
	}
}

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

// TestBombs: files that are small on disk and huge when they are read are refused, and do not use
// memory in proportion.
func TestBombs(t *testing.T) {
	parallel(t)
	files := newCatalog(t, 1)
	if err := os.Remove(filepath.Join(files, "catalog.json")); err != nil {
		t.Fatal(err)
	}
	head := func(path string) []byte {
		data := testkit.ReadFile(t, filepath.Join(files, path))
		return data[:bytes.IndexByte(data, '\n')+1]
	}
	const (
		idps    = "idps/hdx_hapi_idps_global.csv"
		needs   = "humanitarian-needs/hdx_hapi_humanitarian_needs_global_2025.csv"
		funding = "funding/hdx_hapi_funding_global.csv"
	)
	file := func(role, name string) string { return filepath.Join(files, role, name) }
	makeBomb(t, file("idps", "bomb.csv.gz"), head(idps), "\n", 400<<20)
	makeBomb(t, file("humanitarian-needs", "cell.csv"), append(head(needs), '"'), "x", 200<<20)
	makeBomb(t, file("funding", "wide.csv"), append(bytes.Repeat([]byte("c,"), 600), head(funding)...), "", 0)
	makeBomb(t, file("returnees", "huge.csv"), head("returnees/hdx_hapi_returnees_global.csv"), "", 0)
	if err := os.Truncate(file("returnees", "huge.csv"), 2<<30+1); err != nil { // a sparse file
		t.Fatal(err)
	}

	cmd := exec.Command(binary, "build", "--catalog", files, "--store", filepath.Join(t.TempDir(), "store"), "--json")
	cmd.Env = environment()
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	peak := peakMemory(cmd)
	err := cmd.Wait()
	if cmd.ProcessState.ExitCode() != 5 {
		t.Fatalf("exit code %d, %v", cmd.ProcessState.ExitCode(), err)
	}
	refused := map[string]string{}
	for _, r := range decode[report](t, out.Bytes()).Refused {
		refused[r.Path] = r.Why
	}
	for path, why := range map[string]string{
		"idps/bomb.csv.gz":            "unpacks to more than 100 times",
		"humanitarian-needs/cell.csv": "row of more than 1048576 bytes",
		"funding/wide.csv":            "at most 512",
		"returnees/huge.csv":          "2147483649 bytes, at most 2147483648 are read",
	} {
		if !strings.Contains(refused[path], why) {
			t.Errorf("%s: %q, want %q", path, refused[path], why)
		}
	}
	if kib := <-peak; !raceDetector && kib > 300<<10 {
		t.Errorf("%d KiB of memory, want at most %d", kib, 300<<10)
	} else {
		t.Logf("%d KiB of memory", kib)
	}
}

// makeBomb writes a file that ends in n bytes of one kind, compressed if its name ends in .gz.
func makeBomb(t *testing.T, path string, head []byte, fill string, n int) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var w io.WriteCloser = file
	if strings.HasSuffix(path, ".gz") {
		w = gzip.NewWriter(file)
	}
	_, err = w.Write(head)
	chunk := bytes.Repeat([]byte(fill), 1<<20)
	for ; n > 0 && err == nil; n -= len(chunk) {
		_, err = w.Write(chunk)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
}

var peakLine = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)

// peakMemory polls a process's peak memory until it ends, where the system has it. The figure that
// the system gives afterwards would include the parent's.
func peakMemory(cmd *exec.Cmd) <-chan int {
	result := make(chan int, 1)
	go func() {
		peak := 0
		for {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			found := peakLine.FindSubmatch(text)
			if err != nil || found == nil {
				result <- peak
				return
			}
			kib, _ := strconv.Atoi(string(found[1]))
			peak = max(peak, kib)
			time.Sleep(5 * time.Millisecond)
		}
	}()
	return result
}
