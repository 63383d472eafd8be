package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestRemovedSource removes the only file of a table from a catalog and builds again. The table is
// kept, and everyone who looks is told: on the landing page, in the reference, in the answers of
// its endpoint and of no other, in /readyz, which stays ready, in the metrics and by inspect. Once
// the file is back, nothing says so any longer.
func TestRemovedSource(t *testing.T) {
	parallel(t)
	files := newCatalog(t, 1)
	store := sampleStore(t)
	names, err := filepath.Glob(filepath.Join(files, "idps", "*.csv*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("files of the table: %q, %v", names, err)
	}
	s := serve(t, "--store", store, "--surrogate-key", "--base-url", "https://data.example")
	if got := s.shownStale(t, store); len(got) > 0 {
		t.Errorf("before: stale in %q", got)
	}
	before := ask(t, "GET", s.base+with(idpsPath))

	content := testkit.ReadFile(t, names[0])
	testkit.Must(t, os.Remove(names[0]))
	built := mustExit(t, 5, "build", "--catalog", files, "--store", store, "--snapshot-time", "2026-11-22T01:02:00Z")
	if !strings.HasSuffix(built.stdout, "\npurge: landing ep-idps\n") {
		t.Errorf("the build ends with %q", built.stdout[max(0, len(built.stdout)-200):])
	}
	s.signalAndWait(t, "the snapshot without the file", "snapshot swapped")
	want := []string{
		"/", "/docs", "/hapi/", "/hapi/docs", "/hapi/status", "/metrics", "/readyz", "/status", "answers", "inspect",
	}
	if got := s.shownStale(t, store); !slices.Equal(got, want) {
		t.Errorf("stale in %q, want %q", got, want)
	}
	after := ask(t, "GET", s.base+with(idpsPath), "If-None-Match", before.header.Get("ETag"))
	if after.status != 200 || string(after.body) != string(before.body) {
		t.Errorf("the kept table: %d, %d bytes, %d before", after.status, len(after.body), len(before.body))
	}
	if day := after.header.Get("X-Data-Updated"); day == "" || day != before.header.Get("X-Data-Updated") {
		t.Errorf("the kept table was updated %q, before %q", day, before.header.Get("X-Data-Updated"))
	}

	testkit.WriteFile(t, names[0], content)
	mustExit(t, 0, "build", "--catalog", files, "--store", store, "--snapshot-time", "2026-11-23T01:02:00Z")
	s.signalAndWait(t, "the snapshot with the file", "snapshot swapped")
	if got := s.shownStale(t, store); len(got) > 0 {
		t.Errorf("after the file is back: stale in %q", got)
	}
	if again := ask(t, "GET", s.base+with(idpsPath), "If-None-Match", before.header.Get("ETag")); again.status != 304 {
		t.Errorf("after the file is back: %d with the first tag", again.status)
	}
	checkChangelog(t, s, store)
}

var changeID = regexp.MustCompile(`<entry><id>(urn:uuid:[0-9a-f-]{36})</id>`)

// checkChangelog checks that the feed has both changes, which are about sources, and that another
// process, which reads them from the store, says the same.
func checkChangelog(t *testing.T, s *server, store string) {
	t.Helper()
	feed := string(ask(t, "GET", s.base+"/changelog.atom").body)
	page := string(ask(t, "GET", s.base+"/changelog").body)
	ids := changeID.FindAllString(feed, -1)
	if len(ids) != 2 || strings.Count(page, "Older than their sources from now on:") != 1 ||
		strings.Count(page, "As new as their sources again:") != 1 {
		t.Errorf("the feed has %q, the page says\n%s", ids, page)
	}
	other := serve(t, "--store", store)
	again := changeID.FindAllString(string(ask(t, "GET", other.base+"/changelog.atom").body), -1)
	if !slices.Equal(again, ids) {
		t.Errorf("another process has the changes %q, want %q", again, ids)
	}
}

const idpsPath = "/api/v2/affected-people/idps"

// A stale table in what places say: which, and since what day.
var (
	staleOnPage = regexp.MustCompile(`(?s)^"?(?:<td><a href="[^"]*/)?([\w-]+)".*Older than its source since ([^.]+)\.`)
	staleMetric = regexp.MustCompile(`(?m)^hdqs_source_stale\{table="(\w+)"\} 1$`)
	staleTable  = regexp.MustCompile(`(?m)^(\w+) .*, stale since (\S+) `)
)

// shownStale returns the places that say that idps is stale since 22 November 2026. It fails the
// test if one says so of another table or day, or if the server is not ready.
func (s *server) shownStale(t *testing.T, store string) []string {
	t.Helper()
	var places []string
	note := func(place string, stale [][]string, want ...string) {
		t.Helper()
		switch {
		case len(stale) == 1 && slices.Equal(stale[0][1:], want):
			places = append(places, place)
		case len(stale) > 0:
			t.Errorf("%s: stale %q, want %q or nothing", place, stale, want)
		}
	}
	for _, prefix := range []string{"", "/hapi"} {
		for path, part := range map[string]string{"/": "<tr>", "/docs": "<div id=", "/status": `<tr id="table-`} {
			var stale [][]string
			for part := range strings.SplitSeq(string(ask(t, "GET", s.base+prefix+path).body), part) {
				if found := staleOnPage.FindStringSubmatch(part); found != nil {
					stale = append(stale, found)
				}
			}
			note(prefix+path, stale, "idps", "22 November 2026")
		}
	}
	page := ask(t, "GET", s.admin+"/readyz")
	ready := decode[struct {
		Ready bool
		Stale []struct{ Table, Since, Why string } `json:"stale_sources"`
	}](t, page.body)
	if page.status != 200 || !ready.Ready {
		t.Errorf("readyz: %d %s", page.status, page.body)
	}
	var stale [][]string
	for _, x := range ready.Stale {
		stale = append(stale, []string{"", x.Table, x.Since})
		if x.Why == "" {
			t.Errorf("readyz does not say why %s is stale", x.Table)
		}
	}
	note("/readyz", stale, "idps", "2026-11-22T01:02:00Z")
	note("/metrics", staleMetric.FindAllStringSubmatch(string(ask(t, "GET", s.admin+"/metrics").body), -1), "idps")
	stale = nil
	for _, e := range endpoints(t) {
		if since := ask(t, "GET", s.base+with(e.Path+"?limit=1")).header.Get("X-Data-Stale"); since != "" {
			stale = append(stale, []string{"", e.Path, since})
		}
	}
	note("answers", stale, idpsPath, "since=2026-11-22")
	listed := mustExit(t, 0, "inspect", "--store", store).stdout
	note("inspect", staleTable.FindAllStringSubmatch(listed, -1), "idps", "2026-11-22")
	slices.Sort(places)
	return places
}
