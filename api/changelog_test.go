//go:build !race

package api

import (
	"encoding/xml"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/api/list"
	"hdqs/api/site"
	"hdqs/api/state"
	"hdqs/snapshot/store"
)

var tagPattern = regexp.MustCompile(`<[^>]*>`)

// manifestOf is a manifest with rows by table. Tables with the same number of rows are the same.
func manifestOf(id string, rows map[string]int, datasets ...store.Dataset) *store.Manifest {
	m := &store.Manifest{
		Format: 2, ID: id, SnapshotTime: sampleTime, CatalogURL: "https://catalog.example", Datasets: datasets,
	}
	for table, n := range rows {
		m.Tables = append(m.Tables, store.SegmentRef{Table: table, Rows: n, SHA256: fmt.Sprintf("%064x", n)})
	}
	return m
}

// TestChange compares two manifests.
func TestChange(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	from := manifestOf("one", map[string]int{"sector": 19, "org": 1000, "idps": 7, "unknown": 1},
		store.Dataset{ID: "a", Title: "Gone"}, store.Dataset{ID: "b", Title: "Kept", Updated: day(1)},
		store.Dataset{ID: "c", Name: "changed", Updated: day(1)})
	to := manifestOf("two", map[string]int{"sector": 19, "org": 1234, "location": 249, "unknown": 0},
		store.Dataset{ID: "b", Title: "Kept", Updated: day(1)},
		store.Dataset{ID: "c", Name: "changed", Updated: day(2)},
		store.Dataset{ID: "d", Title: "<b>New"})
	from.Sources = []store.TableSource{{Table: "sector", StaleSince: day(1)}}
	to.Sources = []store.TableSource{{Table: "org", StaleSince: day(2)}}
	c := state.NewChange(state.Published{At: day(1), Manifest: from}, state.Published{At: day(2), Manifest: to})
	m := list.NewMounts(&state.Options{}, nil)[0]
	page := site.OnPage(c, m, "")
	want := "Compared with snapshot one, 4 tables have changed. 1 table with the same records."
	if got := page.Summary(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	var tables []string
	for _, x := range page.Tables {
		tables = append(tables, strings.Join([]string{x.Table, x.Before, x.After, x.Difference}, " "))
	}
	if want := []string{
		"idps 7 0 removed", "location 0 249 new", "org 1\u202f000 1\u202f234 +234", "unknown 1 0 \u22121",
	}; !slices.Equal(tables, want) {
		t.Errorf("tables %q, want %q", tables, want)
	}
	if len(page.Stale) != 1 || page.Stale[0].Name != "org" || len(page.Fresh) != 1 || page.Fresh[0].Name != "sector" {
		t.Errorf("stale %v, fresh %v", page.Stale, page.Fresh)
	}
	var datasets []string
	for _, d := range page.Datasets {
		datasets = append(datasets, strings.TrimSpace(strings.Join([]string{d.Title, d.What, d.Day}, " ")))
	}
	if want := []string{
		"<b>New new", "Gone no longer used", "changed updated 2 November 2026",
	}; !slices.Equal(datasets, want) {
		t.Errorf("datasets %q, want %q", datasets, want)
	}
	if link := page.Datasets[2].Link; link != "https://catalog.example/dataset/changed" {
		t.Errorf("link %s", link)
	}
	again := state.NewChange(state.Published{At: day(1), Manifest: to}, state.Published{At: day(2), Manifest: to})
	if other := state.NewChange(state.Published{At: day(1), Manifest: from}, state.Published{
		At:       day(3),
		Manifest: to,
	}); again.ID != c.ID || other.ID == c.ID {
		t.Errorf("ids %s, of the same publication %s, of another %s", c.ID, again.ID, other.ID)
	}
}

// TestChangelog swaps snapshots. The page and the feed have each change once, the newest first.
func TestChangelog(t *testing.T) {
	t.Parallel()
	s := New(state.Options{Logger: slog.New(slog.DiscardHandler), BaseURL: "https://data.example.org/a&b"})
	if page := pageOf(t, s, site.ChangelogPath); !strings.Contains(page, "No data is loaded yet.") {
		t.Error("without a snapshot the page does not say so")
	}
	checkFeed(t, s, s.Mounts[0])
	first, second := twoSnapshots(t)
	at := publishedTime
	early := manifestOf("zero", map[string]int{"sector": 1})
	known := state.NewChange(state.Published{At: at.Add(-time.Hour), Manifest: early}, state.Published{
		At:       at,
		Manifest: first.Manifest,
	})
	if err := s.Swap(state.Release{Snapshot: first, PublishedAt: at, Changes: []*state.Change{known}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Swap(state.Release{Snapshot: second, PublishedAt: at.Add(time.Hour)}); err != nil { // without a history
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Current.Swap(nil).Release(s.Log) })
	for _, m := range s.Mounts {
		page := pageOf(t, s, m.Prefix+site.ChangelogPath)
		text := shownText(page)
		newer := strings.Index(text, "with snapshot first, 1 table has changed.")
		older := strings.Index(text, "with snapshot zero,")
		if newer < 0 || older < newer || strings.Count(page, `<section`) != 2 {
			t.Errorf("%s%s:\n%s", m.Prefix, site.ChangelogPath, text)
		}
		if want := "sector 20 7 \u221213"; !strings.Contains(text, want) {
			t.Errorf("%s%s does not say %q:\n%s", m.Prefix, site.ChangelogPath, want, text)
		}
		entries := checkFeed(t, s, m)
		if len(entries) != 2 || entries[0].Title != "Snapshot second" || entries[1].ID != known.ID {
			t.Errorf("entries of the feed: %+v", entries)
		}
		for _, e := range entries {
			_, anchor, _ := strings.Cut(e.Link.Address, "#")
			if !strings.Contains(page, `id="`+anchor+`"`) {
				t.Errorf("an entry leads to %s, which the page does not have", anchor)
			}
		}
	}
}

// checkFeed reads the feed of a mount as XML and checks what RFC 4287 demands: one id, title and
// time of the feed and of each entry, an author, a link to itself, ids that are IRIs and differ.
func checkFeed(t *testing.T, s *Server, m *list.Mount) []site.AtomEntry {
	t.Helper()
	target := m.Prefix + site.FeedPath
	got := s.Answer("GET", target, nil)
	if kind := headerOf(got, "Content-Type"); got.Status != 200 || kind != site.FeedType {
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
		Links   []site.AtomLink  `xml:"http://www.w3.org/2005/Atom link"`
		Entries []site.AtomEntry `xml:"http://www.w3.org/2005/Atom entry"`
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
