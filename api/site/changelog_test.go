package site

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/api/lang"
	"hdqs/api/list"
	"hdqs/api/state"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// manifestOf is a manifest with rows by table. Tables with the same number of rows are the same.
func manifestOf(id string, rows map[string]int, datasets ...store.Dataset) *store.Manifest {
	m := &store.Manifest{
		Format: 2, ID: id, SnapshotTime: time.Unix(1_800_000_000, 0), CatalogURL: "https://catalog.example", Datasets: datasets,
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
	page := onPage(c, place{m, lang.All()[0]}, "")
	want := "Compared with snapshot one, 4 tables have changed. 1 table with the same records."
	testkit.Equal(t, page.Summary(), want, "summary")
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
		"<b>New new", "Gone no longer used", "changed updated 2026-11-02",
	}; !slices.Equal(datasets, want) {
		t.Errorf("datasets %q, want %q", datasets, want)
	}
	testkit.Equal(t, page.Datasets[2].Link, "https://catalog.example/dataset/changed", "link")
	again := state.NewChange(state.Published{At: day(1), Manifest: to}, state.Published{At: day(2), Manifest: to})
	if other := state.NewChange(state.Published{At: day(1), Manifest: from}, state.Published{
		At:       day(3),
		Manifest: to,
	}); again.ID != c.ID || other.ID == c.ID {
		t.Errorf("ids %s, of the same publication %s, of another %s", c.ID, again.ID, other.ID)
	}
}

// TestCount: numbers of rows are those of the country that is asked for. A country without changes
// has 0 if the changes were counted by country, and no number if only those of the table are known.
func TestCount(t *testing.T) {
	t.Parallel()
	from := manifestOf("one", map[string]int{"idps": 7, "org": 5, "sector": 3})
	to := manifestOf("two", map[string]int{"idps": 8, "org": 6, "sector": 4})
	change := state.NewChange(state.Published{Manifest: from}, state.Published{Manifest: to})
	m := list.NewMounts(&state.Options{}, nil)[0]
	numbers := func(country string) map[string][3]string {
		page, found := onPage(change, place{m, lang.All()[0]}, ""), map[string][3]string{}
		page.count(append([]string(nil), strings.Fields(country)...))
		testkit.Equal(t, page.Counted, (change.Counts != nil), "counted")
		for _, x := range page.Tables {
			found[x.Table] = x.Rows
		}
		return found
	}
	unknown := [3]string{}
	numbers("")
	change.Counts = state.RowCounts{
		"idps": {"": {1200, 0, 3}, "AFG": {1200, 0, 2}, "SOM": {0, 0, 1}}, "org": {"": {1, 0, 0}},
		"sector": {"": {2, 0, 0}, "SOM YEM": {2, 0, 0}},
	}
	for country, want := range map[string]map[string][3]string{
		"":        {"idps": {"1\u202f200", "0", "3"}, "org": {"1", "0", "0"}, "sector": {"2", "0", "0"}},
		"SOM":     {"idps": {"0", "0", "1"}, "org": unknown, "sector": {"2", "0", "0"}},
		"AFG":     {"idps": {"1\u202f200", "0", "2"}, "org": unknown, "sector": {"0", "0", "0"}},
		"SOM YEM": {"idps": {"0", "0", "1"}, "org": unknown, "sector": {"2", "0", "0"}},
	} {
		if got := numbers(country); !maps.Equal(got, want) {
			t.Errorf("%q: %q, want %q", country, got, want)
		}
	}
}
