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

	"hdqs/internal/ckantest"
)

// publishedSite is a CKAN site over a generated catalog. Faults stand before it and answer by the path of the file that is asked for.
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

// ServeHTTP does not hold the site's lock while a fault takes its time.
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

// builds is the command line of a load from the site.
func (s *publishedSite) builds(dir string, more ...string) []string {
	return append([]string{
		"build", "--catalog", s.url, "--store", filepath.Join(dir, "store"), "--data-dir", dir, "--snapshot-time", buildTime,
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

// siteFault is one way in which a site fails, and what a load is to say of it.
type siteFault struct {
	path, name string
	state      string // stale, or new when the load must cope
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

// drip sends a byte now and then.
func drip(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		fmt.Fprint(w, "x")
		w.(http.Flusher).Flush()
		time.Sleep(100 * time.Millisecond)
	}
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

// latin1 is the text in the encoding that spreadsheets of the West write: every é is one byte.
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

// siteFaults gives each kind of fault to a file of its own.
func siteFaults() []siteFault {
	const page = "<!DOCTYPE html>\n<html><title>Just a moment...</title></html>"
	return []siteFault{
		{"conflict-events/hdx_hapi_conflict_event_global_2025.csv", "500", "stale", "status 500", status(500), nil},
		{"funding/hdx_hapi_funding_global.csv", "429 for an hour", "stale", "asked to wait 1h0m0s", status(429, "Retry-After", "3600"), nil},
		{"national-risk/hdx_hapi_national_risk_global.csv", "429 for a second", "new", "", nil, bytes.Clone},
		{"humanitarian-needs/hdx_hapi_humanitarian_needs_global_2025.csv", "403 page", "stale", "status 403", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(403)
			fmt.Fprint(w, page)
		}, nil},
		{"refugees-persons-of-concern/hdx_hapi_refugees_global_2015_2019.csv", "202 challenge", "stale", "status 202", status(202), nil},
		{"returnees/hdx_hapi_returnees_global.csv", "no answer", "stale", "deadline", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, nil},
		{"idps/hdx_hapi_idps_global.csv", "slow drip", "stale", "body cut after", drip, nil},
		{"food-security/hdx_hapi_food_security_global.csv", "cut body", "stale", "body cut after 21 bytes", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000")
			fmt.Fprint(w, "location_code,has_hrp")
		}, nil},
		{"poverty-rate/hdx_hapi_poverty_rate_global.csv", "another length than the catalog says", "stale", "the catalog says", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "location_code\nAFG\n")
		}, nil},
		{"rainfall/hdx_hapi_rainfall_global_1yr.csv", "HTML with 200", "stale", "an HTML or XML page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, page) }, nil},
		{"baseline-population/hdx_hapi_population_global_hrp.csv", "gzip that nobody asked for", "stale", "header", nil, packed},
		{"baseline-population/hdx_hapi_population_global_non_hrp.csv", "renamed column", "stale", "header lacks gender", nil, inHeader(",gender,", ",sex,")},
		{"food-prices-market-monitor/hdx_hapi_food_price_global_2024.csv", "column twice", "stale", `column "unit" stands twice`, nil, inHeader(",unit,", ",unit,unit,")},
		{"food-prices-market-monitor/hdx_hapi_food_price_global_2025.csv", "redirect loop", "stale", "more than 5 redirects", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.String()+"&again", http.StatusFound)
		}, nil},
		{"operational-presence/hdx_hapi_operational_presence_global.csv", "older column name", "stale", "header lacks dataset_hdx_id", nil, inHeader("dataset_hdx_id", "dataset_id")},
		{"refugees-persons-of-concern/hdx_hapi_refugees_global_2020_2024.csv", "byte order mark and CRLF", "new", "", nil, func(data []byte) []byte {
			data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
			return append([]byte("\xef\xbb\xbf"), bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))...)
		}},
		{"reference/org.csv", "Latin-1", "stale", "rows are broken", nil, latin1},
		{"reference/market.csv", "redirect to the metadata service", "stale", "not in the list of allowed hosts", redirect("http://169.254.169.254/latest/meta-data/"), nil},
		{"reference/commodity.csv", "redirect to localhost", "stale", "not in the list of allowed hosts", redirect("http://localhost:9/"), nil},
		{"reference/currency.csv", "endless body", "stale", "size limit", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte("code,name\n"), 5000)); err != nil {
					return
				}
			}
		}, nil},
		{"conflict-events/hdx_hapi_conflict_event_global_2026.csv", "502 once", "new", "", nil, bytes.Clone},
	}
}

// TestFaultySite breaks every other file of a site in a way of its own, all at once: what cannot be used stays as it was and is marked so in the
// report, in the snapshot and by the exit code; the tables are those of before; once the site is whole again nothing is marked.
func TestFaultySite(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	store := filepath.Join(dir, "store")
	wants(t, 0, site.builds(dir)...)
	before, _ := inspect(t, store)

	faults := siteFaults()
	site.Lock()
	site.mu.Lock()
	for _, f := range faults {
		site.Modified[f.path] = "2026-11-22T00:00:00"
		if f.answer != nil {
			site.faults[f.path] = f.answer
		}
		if f.content != nil {
			site.Override[f.path] = f.content(readFile(t, filepath.Join(site.files, f.path)))
		}
		if _, err := os.Stat(filepath.Join(site.files, f.path)); err != nil {
			t.Errorf("%s: the catalog has no such file", f.path)
		}
	}
	var again, once atomic.Int64 // two files come at a time
	site.faults["national-risk/hdx_hapi_national_risk_global.csv"] = func(w http.ResponseWriter, r *http.Request) {
		if again.Add(1) == 1 {
			status(429, "Retry-After", "1")(w, r)
			return
		}
		site.Site.ServeHTTP(w, r)
	}
	site.faults["conflict-events/hdx_hapi_conflict_event_global_2026.csv"] = func(w http.ResponseWriter, r *http.Request) {
		if once.Add(1) == 1 {
			status(502)(w, r)
			return
		}
		site.Site.ServeHTTP(w, r)
	}
	site.mu.Unlock()
	site.Unlock()

	summary := filepath.Join(dir, "summary.md")
	o := wants(t, 5, site.builds(dir, "--download-timeout", "4s", "--max-download", "3000000", "--json", "--markdown", summary)...)
	r := decode[sourceReport](t, []byte(o.out))
	var marked []string
	for _, s := range r.Stale {
		marked = append(marked, s.Path)
	}
	text := string(readFile(t, summary))
	for _, f := range faults {
		state, why := r.source(f.path)
		if state != f.state || !strings.Contains(why, f.says) {
			t.Errorf("%s, %s: %s: %s; want %s: %s", f.name, f.path, state, why, f.state, f.says)
		}
		if f.state == "stale" && (!slices.Contains(marked, f.path) || !strings.Contains(o.errors, f.path)) {
			t.Errorf("%s: %s is not marked as stale, or nobody is told", f.name, f.path)
		}
	}
	if !r.Partial || r.Fetched.Retries == 0 || !strings.Contains(text, "**partial**") || !strings.Contains(text, "stale since 2026-11-21") {
		t.Errorf("partial %t, %d retries; summary:\n%s", r.Partial, r.Fetched.Retries, text)
	}
	sameRows := func(what string) snapshotView {
		t.Helper()
		after, _ := inspect(t, store)
		for i, table := range after.Tables {
			// Times of reading are rows of their own in two lists; nothing else may change.
			if table.SHA256 != before.Tables[i].SHA256 && table.Table != "resource" && table.Table != "data_availability" {
				t.Errorf("%s: table %s is another one", what, table.Table)
			}
		}
		return after
	}
	sameRows("faulty site")
	if text := wants(t, 0, "inspect", "--store", store).out; !strings.Contains(text, "stale since 2026-11-21T01:02:00Z: idps/") {
		t.Errorf("inspect does not tell what is stale:\n%.2000s", text)
	}

	site.Lock()
	site.mu.Lock()
	clear(site.faults)
	clear(site.Override)
	for _, f := range faults {
		site.Modified[f.path] = "2026-11-23T00:00:00"
	}
	site.mu.Unlock()
	site.Unlock()
	r = decode[sourceReport](t, []byte(wants(t, 0, site.builds(dir, "--json")...).out))
	if r.Partial || len(r.Stale) > 0 {
		t.Errorf("the whole site: %+v", r.Stale)
	}
	sameRows("whole site")
	if text := wants(t, 0, "inspect", "--store", store).out; strings.Contains(text, "stale") {
		t.Errorf("inspect still tells of stale sources:\n%.2000s", text)
	}
}

// TestKilledDownload: a load that is killed while it downloads leaves the store as it is; the next one asks only for what is missing.
func TestKilledDownload(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	const big = "idps/hdx_hapi_idps_global.csv"
	data := readFile(t, filepath.Join(site.files, big))
	whole := t.TempDir()
	wants(t, 0, site.builds(whole)...)
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
	case <-time.After(patience):
		t.Error("the file was not asked for")
	}
	all := len(cachedFiles(t, whole))
	if all <= 20 {
		t.Fatalf("%d files: this tests too little", all)
	}
	waitFor(t, "the other files and half of the large one", func() bool {
		return len(cachedFiles(t, dir)) == all-1 && hasFileOf(t, filepath.Join(dir, "catalogs", "*", "parts", "*"), len(data)/2)
	})
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if _, err := os.Stat(filepath.Join(dir, "store", "channels")); err == nil {
		t.Error("a killed download published something")
	}
	site.mu.Lock()
	first := site.asked
	site.asked = map[string][]string{}
	site.mu.Unlock()

	r := decode[sourceReport](t, []byte(wants(t, 0, site.builds(dir, "--json")...).out))
	if r.Outcome != "published" {
		t.Errorf("outcome %s", r.Outcome)
	}
	if want := fmt.Sprintf("bytes=%d-", len(data)/2); len(site.asked[big]) != 1 || site.asked[big][0] != want {
		t.Errorf("the file that was cut is asked for with %q, want %q", site.asked[big], want)
	}
	if len(site.asked) > 2 {
		t.Errorf("%d of %d files were asked for again: %v", len(site.asked), len(first), site.asked)
	}
	got, _ := inspect(t, filepath.Join(dir, "store"))
	want, _ := inspect(t, newStore(t, site.files))
	if fmt.Sprint(tableSums(got)) == "" || tableSums(got)["idps"] != tableSums(want)["idps"] {
		t.Error("the table of the file that was cut is another one")
	}
}

// cachedFiles are the files that a load has downloaded, by what its cache remembers of them.
func cachedFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	index, err := filepath.Glob(filepath.Join(dir, "catalogs", "*", "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range index {
		for name, entry := range decode[map[string]struct {
			LastModified string `json:"last_modified"`
		}](t, readFile(t, path)) {
			if entry.LastModified != "" { // others are short texts
				names = append(names, name)
			}
		}
	}
	return names
}

// hasFileOf tells whether one of the files that a pattern names has a size.
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

// TestPlanAndRefresh: a dry run reads nothing and says what would be read; a load of what is there already opens no segment; one changed
// file makes one table anew.
func TestPlanAndRefresh(t *testing.T) {
	t.Parallel()
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
		if err := json.Unmarshal([]byte(wants(t, 0, args...).out), &planned); err != nil {
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
		t.Errorf("%d files would be read; %d were", n, len(site.asked))
	}
	if _, err := os.Stat(filepath.Join(dir, "store")); err == nil {
		t.Error("a dry run made a store")
	}
	wants(t, 0, site.builds(dir)...)
	if n := count(plan, "new"); n != 0 {
		t.Errorf("after the load %d files would be read", n)
	}
	// Unreadable segments show that none is opened.
	segments, err := filepath.Glob(filepath.Join(dir, "store", "segments", "*"))
	if err != nil || len(segments) != 25 {
		t.Fatal(len(segments), err)
	}
	kept := map[string][]byte{}
	for _, s := range segments {
		kept[s] = readFile(t, s)
		change(t, s, func(b []byte) []byte { return make([]byte, len(b)) })
	}
	r := decode[sourceReport](t, []byte(wants(t, 0, site.builds(dir, "--json")...).out))
	if r.Outcome != "unchanged" || len(r.Tables) != 25 {
		t.Errorf("outcome %s, %d tables", r.Outcome, len(r.Tables))
	}
	for path, data := range kept {
		change(t, path, func([]byte) []byte { return data })
	}
	const funding = "funding/hdx_hapi_funding_global.csv"
	data := bytes.TrimRight(readFile(t, filepath.Join(site.files, funding)), "\r\n")
	site.Lock()
	site.Override[funding] = data[:bytes.LastIndexByte(data, '\n')+1]
	site.Modified[funding] = "2026-11-22T00:00:00"
	site.Unlock()
	if n := count(plan, "new"); n != 1 {
		t.Errorf("%d changed files would be read, want 1", n)
	}
	r = decode[sourceReport](t, []byte(wants(t, 0, site.builds(dir, "--json")...).out))
	var made []string
	for _, table := range r.Tables {
		if themes := !strings.Contains(" dataset resource location admin1 admin2 currency org org_type sector commodity market data_availability ", " "+table.Table+" "); themes && !table.Reused {
			made = append(made, table.Table)
		}
	}
	if !slices.Equal(made, []string{"funding"}) {
		t.Errorf("made anew: %v", made)
	}
}

// TestServeFromSite: a server that loads for itself goes on with what the site has; a site that fails takes nothing away, and one that never
// answered ends it with the code of an upstream failure.
func TestServeFromSite(t *testing.T) {
	t.Parallel()
	site, dir := newSite(t), t.TempDir()
	wants(t, 3, "serve", "--catalog", site.url, "--data-dir", filepath.Join(dir, "other"), "--allow-http", "--allow-private-hosts", "--allow-host", "catalog.example")
	s := serve(t, "--catalog", site.url, "--refresh", "1s", "--data-dir", dir, "--identifier", "off", "--allow-http", "--allow-private-hosts",
		"--download-timeout", "2s", "--catalog-url", "https://catalog.example.org", "--location-list", filepath.Join(site.files, "reference", "location.csv"))
	const funding, path = "funding/hdx_hapi_funding_global.csv", "/api/v2/coordination-context/funding?limit=1"
	total := func() string { return ask(t, "GET", s.base+path).header.Get("X-Total-Count") }
	before := total()
	data := bytes.TrimRight(readFile(t, filepath.Join(site.files, funding)), "\r\n")
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
	waitFor(t, "the changed rows", func() bool { return total() != before })
	changed := total()
	set([]byte("<html>"), "2026-11-23T00:00:00", status(503))
	waitFor(t, "a refresh with a stale source", func() bool { return strings.Contains(s.said.String(), "stale=1") })
	if now := total(); now != changed {
		t.Errorf("%s rows after the site failed, %s before", now, changed)
	}
	set(data, "2026-11-24T00:00:00", nil)
	waitFor(t, "the first rows again", func() bool { return total() == before })
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.said)
	}
}

// TestBombs: files that are small on disk and endless when they are read are refused, and cost no memory.
func TestBombs(t *testing.T) {
	t.Parallel()
	files := newCatalog(t, 1)
	if err := os.Remove(filepath.Join(files, "catalog.json")); err != nil {
		t.Fatal(err)
	}
	head := func(path string) []byte {
		data := readFile(t, filepath.Join(files, path))
		return data[:bytes.IndexByte(data, '\n')+1]
	}
	const idps, needs, funding = "idps/hdx_hapi_idps_global.csv", "humanitarian-needs/hdx_hapi_humanitarian_needs_global_2025.csv", "funding/hdx_hapi_funding_global.csv"
	makeBomb(t, filepath.Join(files, "idps", "bomb.csv.gz"), head(idps), "\n", 400<<20)
	makeBomb(t, filepath.Join(files, "humanitarian-needs", "cell.csv"), append(head(needs), '"'), "x", 200<<20)
	makeBomb(t, filepath.Join(files, "funding", "wide.csv"), append(bytes.Repeat([]byte("c,"), 600), head(funding)...), "", 0)

	makeBomb(t, filepath.Join(files, "returnees", "huge.csv"), head("returnees/hdx_hapi_returnees_global.csv"), "", 0)
	if err := os.Truncate(filepath.Join(files, "returnees", "huge.csv"), 2<<30+1); err != nil { // it takes no room
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
		"idps/bomb.csv.gz": "unpacks to more than 200 times", "humanitarian-needs/cell.csv": "row of more than 1048576 bytes", "funding/wide.csv": "at most 512",
		"returnees/huge.csv": "2147483649 bytes, at most 2147483648 are read",
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

// makeBomb writes a file, packed if its name says so, that ends in n bytes of one kind.
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

// peakMemory watches a process until it ends, where the system tells how much memory one has had. What the system says afterwards would count the
// parent's too.
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
