//go:build !race

package site_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/state"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

var tagPattern = regexp.MustCompile(`<[^>]*>`)

// TestChangelog swaps snapshots. The page and the feed have each change once, the newest first.
func TestChangelog(t *testing.T) {
	t.Parallel()
	s := api.New(state.Options{Logger: slog.New(slog.DiscardHandler), BaseURL: "https://data.example.org/a&b"})
	if page := pageOf(t, s, "/changelog"); !strings.Contains(page, "No data is loaded yet.") {
		t.Error("without a snapshot the page does not say so")
	}
	checkFeed(t, s, s.Lists.Routes.Mounts[0])
	first, second := apitest.TwoSnapshots(t, 20)
	at := apitest.PublishedTime
	early := &store.Manifest{
		Format: 2, ID: "zero", SnapshotTime: apitest.SampleTime, CatalogURL: "https://catalog.example",
		Tables: []store.SegmentRef{{Table: "sector", Rows: 1, SHA256: strings.Repeat("1", 64)}},
	}
	known := state.NewChange(state.Published{At: at.Add(-time.Hour), Manifest: early}, state.Published{
		At:       at,
		Manifest: first.Manifest,
	})
	apitest.Swap(t, s, state.Release{Snapshot: first, PublishedAt: at, Changes: []*state.Change{known}})
	apitest.Swap(t, s, state.Release{Snapshot: second, PublishedAt: at.Add(time.Hour)})
	t.Cleanup(func() { s.State.Snapshots.Current.Swap(nil).Release(s.State.Log) })
	for _, m := range s.Lists.Routes.Mounts {
		page := pageOf(t, s, m.Prefix+"/changelog")
		if tables := strings.Count(page, "<table>"); tables == 0 || tables != strings.Count(page, `can be scrolled"><table>`) {
			t.Errorf("%s: some of %d tables are wider than a phone", m.Prefix, tables)
		}
		text := shownText(page)
		newer := strings.Index(text, "with snapshot first, 1 table has changed.")
		older := strings.Index(text, "with snapshot zero,")
		if newer < 0 || older < newer || strings.Count(page, `<section`) != 2 {
			t.Errorf("%s%s:\n%s", m.Prefix, "/changelog", text)
		}
		testkit.Contains(t, text, " 20 7 \u221213", "%s%s", m.Prefix, "/changelog")
		entries := checkFeed(t, s, m)
		if len(entries) != 2 || entries[0].Title != "Snapshot second" || entries[1].ID != known.ID {
			t.Errorf("entries of the feed: %+v", entries)
		}
		for _, e := range entries {
			_, anchor, _ := strings.Cut(e.Link.Address, "#")
			testkit.Contains(t, page, `id="`+anchor+`"`, "an entry leads to %s, which the page does not have", anchor)
		}
	}
}

// TestFeedsOfPages: pages of a country, list and group lead to what changed in these alone.
func TestFeedsOfPages(t *testing.T) {
	t.Parallel()
	team := contract.CountryGroup{Kind: contract.OwnGroup, Slug: "team", Name: "Team", Members: []string{"AFG", "MLI"}}
	s := apitest.Sample(t, state.Options{Groups: []contract.CountryGroup{team}}, 5)
	for path, want := range map[string]string{
		"/":                                      "",
		"/country/AFG":                           "?location_code=AFG",
		"/fr/browse/idps":                        "?list=idps",
		"/browse/idps?location_code=AFG":         "?list=idps&amp;location_code=AFG",
		"/browse/idps?location_code__in=AFG,TCD": "?list=idps",
		"/browse/idps?group=team":                "?group=team&amp;list=idps",
		"/browse/idps?group=nonsense":            "",
	} {
		page := string(s.Answer("GET", path, nil).Body)
		link := `type="application/atom+xml" title="`
		if !strings.Contains(page, link) || strings.Count(page, `href="/changelog.atom`+want+`">`) != 2 {
			t.Errorf("%s does not lead to the feed %q", path, want)
		}
		feed := "/changelog.atom" + html.UnescapeString(want)
		testkit.Equal(t, s.Answer("GET", feed, nil).Status, 200, "%s", feed)
	}
}

// The parts of a feed that the test reads.
type (
	atomEntry struct {
		ID      string   `xml:"id"`
		Title   string   `xml:"title"`
		Updated string   `xml:"updated"`
		Link    atomLink `xml:"link"`
		Summary string   `xml:"summary"`
		Content struct {
			Type string `xml:"type,attr"`
			Text string `xml:",chardata"`
		} `xml:"content"`
	}
	atomLink struct {
		Relation string `xml:"rel,attr"`
		Address  string `xml:"href,attr"`
	}
)

// checkFeed reads the feed of a mount as XML and checks what RFC 4287 demands: one id, title and
// time of the feed and of each entry, an author, a link to itself, ids that are IRIs and differ.
func checkFeed(t *testing.T, s *api.Server, m *list.Mount) []atomEntry {
	t.Helper()
	target := m.Prefix + "/changelog.atom"
	got := s.Answer("GET", target, nil)
	if kind := apitest.Header(got, "Content-Type"); got.Status != 200 || kind != "application/atom+xml; charset=utf-8" {
		t.Fatalf("%s: %d %s", target, got.Status, kind)
	}
	var feed struct {
		XMLName xml.Name
		ID      []string `xml:"http://www.w3.org/2005/Atom id"`
		Title   []string `xml:"http://www.w3.org/2005/Atom title"`
		Updated []string `xml:"http://www.w3.org/2005/Atom updated"`
		Author  []struct {
			Name string `xml:"http://www.w3.org/2005/Atom name"`
		} `xml:"http://www.w3.org/2005/Atom author"`
		Links   []atomLink  `xml:"http://www.w3.org/2005/Atom link"`
		Entries []atomEntry `xml:"http://www.w3.org/2005/Atom entry"`
	}
	if err := xml.Unmarshal(got.Body, &feed); err != nil {
		t.Fatalf("%s: %v\n%s", target, err, got.Body)
	}
	if feed.XMLName.Local != "feed" || len(feed.ID) != 1 || len(feed.Title) != 1 || len(feed.Updated) != 1 ||
		len(feed.Author) != 1 || feed.Author[0].Name == "" {
		t.Errorf("%s: %+v", target, feed)
	}
	self := "https://data.example.org/a&b" + target
	if len(feed.Links) != 2 || feed.Links[0].Relation != "self" || feed.Links[0].Address != self || feed.ID[0] != self {
		t.Errorf("%s: links %v", target, feed.Links)
	}
	seen := map[string]bool{}
	last := feed.Updated[0]
	for _, e := range feed.Entries {
		u, err := url.Parse(e.ID)
		if err != nil || u.Scheme == "" || seen[e.ID] {
			t.Errorf("%s: the id %q is not one, or not the only one", target, e.ID)
		}
		seen[e.ID] = true
		at, err := time.Parse(time.RFC3339, e.Updated)
		if limit, _ := time.Parse(time.RFC3339, last); err != nil || at.After(limit) {
			t.Errorf("%s: %q after %q: %v", target, e.Updated, last, err)
		}
		last = e.Updated
		if e.Title == "" || e.Summary == "" || e.Content.Type != "html" ||
			!strings.Contains(e.Content.Text, "<table>") {
			t.Errorf("%s: %+v", target, e)
		}
	}
	return feed.Entries
}

var (
	sinceList   = regexp.MustCompile(`(?s)<section class="changed" aria-labelledby="list-([a-z0-9-]+)">(.*?)</section>`)
	sinceNumber = regexp.MustCompile(`<td class="count"><a href="([^"]*)"[^>]*>([^<]*)</a>`)
	sinceEach   = regexp.MustCompile(`<p><a href="([^"]*)" rel="nofollow">and `)
	sinceRows   = regexp.MustCompile(`<tr><td`)
)

// TestChangelogSince: the page of changes since a day has the numbers of the interface by list and
// kind, and each number leads to as many records.
func TestChangelogSince(t *testing.T) {
	t.Parallel()
	before, after := apitest.ChangedTables(t, rand.New(rand.NewPCG(30, 8)), 60, 6)
	s := apitest.Changed(t, before, after)
	day := apitest.SampleTime.Format(time.DateOnly)
	for _, m := range s.Lists.Routes.Mounts {
		endpoints := contract.EndpointsIn(m.Names)
		page := string(apitest.Browse(s, m.Prefix+"/changelog?since="+day).Body)
		shown := map[string]string{}
		for _, l := range sinceList.FindAllStringSubmatch(page, -1) {
			shown[l[1]] = l[2]
			if each := sinceEach.FindStringSubmatch(l[2]); each != nil { // all of its countries
				whole := string(apitest.Browse(s, html.UnescapeString(each[1])).Body)
				shown[l[1]] = sinceList.FindStringSubmatch(whole)[2]
			}
		}
		followed, lists := 0, 0
		for i := range endpoints {
			e := &endpoints[i]
			a := s.Answer("GET", m.Prefix+e.Path+"/changes?since=before&app_identifier="+apitest.Identifier, nil)
			header, _ := apitest.Field(a, contract.HeaderChanges)
			var want, got [3]int
			fmt.Sscanf(header, "added=%d, removed=%d, changed=%d", &want[0], &want[1], &want[2])
			kinds := []string{"added", "removed", "changed"}
			if sides := e.CountryFields(); len(sides) > 1 { // a record of two countries is of both
				var body struct{ Data []map[string]any }
				testkit.Must(t, json.Unmarshal(a.Body, &body))
				for _, r := range body.Data {
					if r[sides[0]] != r[sides[1]] {
						want[slices.Index(kinds, r["change"].(string))]++
					}
				}
			}
			for _, n := range sinceNumber.FindAllStringSubmatch(shown[e.Name()], -1) {
				address := html.UnescapeString(n[1])
				u := testkit.Value(url.Parse(address))(t)
				number, _ := strconv.Atoi(apitest.PlainNumber(n[2]))
				got[slices.Index(kinds, u.Query().Get("kind"))] += number
				if followed++; followed%7 != 0 {
					continue
				}
				records := string(apitest.Browse(s, address).Body)
				_, records, _ = strings.Cut(records, `<table class="data cards">`)
				records, _, _ = strings.Cut(records, "</table>")
				testkit.Equal(t, len(sinceRows.FindAllString(records, -1)), number, "%s records", address)
			}
			testkit.Equal(t, got, want, "%s%s", m.Prefix, e.Name())
			if want != [3]int{} {
				lists++
			}
		}
		if lists < 5 || followed < 50 {
			t.Errorf("%d lists, %d numbers", lists, followed)
		}
	}
}

// TestChangelogSinceNothing: a day before all loads that are kept, a country, and what is no day.
func TestChangelogSinceNothing(t *testing.T) {
	t.Parallel()
	before, after := apitest.ChangedTables(t, rand.New(rand.NewPCG(30, 9)), 30, 3)
	s := apitest.Changed(t, before, after)
	none := apitest.Sample(t, state.Options{}, 5)
	desk := []contract.CountryGroup{{Kind: contract.OwnGroup, Slug: "desk", Members: []string{"AFG"}}}
	grouped := apitest.Serve(t, state.Options{KeepPrevious: time.Hour, Groups: desk},
		apitest.StoreSnapshot(t, "before", apitest.SampleTime, before))
	apitest.Swap(t, grouped, state.Release{
		Snapshot: apitest.StoreSnapshot(t, "after", apitest.SampleTime, after),
	})
	for _, c := range []struct {
		server      *api.Server
		query, want string
	}{
		{s, "?since=2001-01-01", "the oldest whose records are still kept"},
		{s, "?since=2001-01-01", "/browse/resource?update_date_min=2001-01-01"},
		{s, "?since=after", "No record differs."},
		{s, "?since=before&location_code=QQQ", "No country is called <bdi>QQQ</bdi>."},
		{s, "?since=%3Cb%3E", "&lt;b&gt; is neither a day"},
		{grouped, "?since=before&group=desk&location_code=MLI", "No record of MLI differs."},
		{none, "?since=2001-01-01", "No earlier load is kept"},
		{none, "", "This is the first load that is known here."},
	} {
		page := apitest.Browse(c.server, "/changelog"+c.query)
		if page.Status != 200 || !strings.Contains(shownText(string(page.Body)), c.want) &&
			!strings.Contains(string(page.Body), c.want) {
			t.Errorf("%s: %d, without %q", c.query, page.Status, c.want)
		}
	}
}

// shownText is the page without its tags and with single blanks.
func shownText(page string) string {
	return strings.Join(strings.Fields(tagPattern.ReplaceAllString(page, " ")), " ")
}

// TestStatus: the page says what /readyz says, for people, and needs no identifier.
func TestStatus(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 30)
	s.State.Polled(state.Poll{
		At: time.Now().Add(-90 * time.Second), Outcome: "failed", Reason: "s3://secret-bucket is away",
	})
	var ready state.Readiness
	testkit.Must(t, json.Unmarshal(apitest.Ask(t, apitest.ListenAdmin(t, s), "GET", "/readyz", nil).Body, &ready))
	for _, m := range s.Lists.Routes.Mounts {
		page := pageOf(t, s, m.Prefix+"/status")
		text := shownText(page)
		for _, want := range []string{
			"Requests are answered.", "Served " + ready.Snapshot, "20 November 2026, 02:00 UTC",
			"20 November 2024, 02:10 UTC",
			"1 minute ago: failed", "Earlier ones that still answer none", "org since 18 November 2026",
			"Example Agency", "Creative Commons Attribution", "last update 17 November 2026",
			`Figures &lt;made up&gt; &amp; more`,
		} {
			testkit.Contains(t, text, want, "%s%s", m.Prefix, "/status")
		}
		if strings.Contains(page, "secret-bucket") || strings.Contains(page, "it has no column name") {
			t.Errorf("%s%s shows what is for operators", m.Prefix, "/status")
		}
		for _, e := range contract.EndpointsIn(m.Names) {
			row := `<tr id="table-` + e.Name() + `"><td><a href="` + m.Prefix + "/browse/" + e.Name() + `">`
			count := `<td class="count">` + inGroups(ready.Rows[e.Table]) + "</td></tr>"
			_, rest, found := strings.Cut(page, row)
			if line, _, _ := strings.Cut(rest, "</tr>"); !found || !strings.HasSuffix(line+"</tr>", count) {
				t.Errorf("%s%s: no row of %s with %d records", m.Prefix, "/status", e.Name(), ready.Rows[e.Table])
			}
		}
	}
}

// TestStatusStates: without a snapshot and after a swap the page says so. Within some seconds of
// the same snapshot it is made once.
func TestStatusStates(t *testing.T) {
	t.Parallel()
	empty := api.New(state.Options{})
	testkit.Contains(t, shownText(pageOf(t, empty, "/status")), "No data is loaded yet.", "without a snapshot")
	first, second := apitest.TwoSnapshots(t, 20)
	s := apitest.Serve(t, state.Options{}, first)
	before := s.Answer("GET", "/status", nil)
	s.State.Polled(state.Poll{At: apitest.SampleTime, Outcome: "unchanged"})
	if again := s.Answer("GET", "/status", nil); string(again.Body) != string(before.Body) {
		t.Error("the page was made twice within its time")
	}
	if kept, _ := apitest.Field(before, "Cache-Control"); kept != "public, max-age=5" {
		t.Errorf("Cache-Control: %s", kept)
	}
	apitest.Swap(t, s, state.Release{Snapshot: second, PublishedAt: apitest.PublishedTime})
	text := shownText(pageOf(t, s, "/status"))
	for _, want := range []string{"Served second", "Earlier ones that still answer first", "Requests are answered."} {
		testkit.Contains(t, text, want, "after the swap the page")
	}
}

// inGroups is a count with narrow spaces between thousands.
func inGroups(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return inGroups(n/1000) + fmt.Sprintf("\u202f%03d", n%1000)
}
