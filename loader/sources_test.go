//go:build !race

package loader

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// describedPackage is a package with all that the manifest says about it, and more.
const describedPackage = `{"id": "set", "name": "stub", "title": "T", "organization": {"name": "o", "title": "Office"},
	"license_id": "hdx-other", "license_title": "Other", "license_url": "https://example.org/terms", "license_other": " Ask us.\n",
	"caveats": "Estimates", "last_modified": "2025-02-03T04:05:06.7", "metadata_modified": "2025-03-01T00:00:00", "resources": [
	{"id": "res-1", "name": "one", "format": "CSV", "url": "https://example.com/1", "last_modified": "2025-01-02T03:04:05.9", "size": 1},
	{"id": "res-2", "name": "two", "format": "CSV", "url": "https://example.com/2", "last_modified": "2025-01-01T00:00:00", "size": 2}]}`

func manifestOf(t *testing.T, st *store.Store, r *Report) *store.Manifest {
	t.Helper()
	m := testkit.Value(st.Snapshots.Manifest(r.Snapshot))(t)
	return m
}

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

// listing is a catalog.json of the small catalog; modified is when the file of idps was published.
func listing(modified, more string) *fstest.MapFile {
	return &fstest.MapFile{Data: fmt.Appendf(nil, `{"format": 1, "packages": "packages/*.json", "resources": [
		{"role": "location", "path": "reference/location.csv", "last_modified": "2024-05-06T07:08:09.25"},
		{"role": "pcodes", "path": "reference/pcodes.csv"},
		{"role": "idps", "path": "idps/a.csv", "last_modified": %q}]%s}`, modified, more)}
}

// TestSources checks what a manifest says about the sources of tables and about their datasets.
func TestSources(t *testing.T) {
	t.Parallel()
	files := smallCatalog(t)
	files["packages/p.json"].Data = []byte(describedPackage)
	files["catalog.json"] = listing("2025-06-01T00:00:00", "")
	st := openStore(t)
	first := build(t, st, files, someDay)
	m := manifestOf(t, st, first)
	want := []store.TableSource{
		{Table: "location", Updated: at("2024-05-06T07:08:09Z")},
		{Table: "idps", Updated: at("2025-01-02T03:04:05Z"), Datasets: []string{"set"}},
	}
	if !reflect.DeepEqual(m.Sources, want) {
		t.Errorf("sources\n%+v, want\n%+v", m.Sources, want)
	}
	if want := []store.Dataset{{
		ID: "set", Name: "stub", Title: "T", Publisher: "Office", License: "Other",
		LicenseURL: "https://example.org/terms", Terms: "Ask us.", Caveats: "Estimates", Updated: at("2025-02-03T04:05:06Z"),
	}}; !reflect.DeepEqual(m.Datasets, want) {
		t.Errorf("datasets\n%+v, want\n%+v", m.Datasets, want)
	}
	if again := build(t, st, files, someDay.Add(time.Hour)); again.Outcome != "unchanged" {
		t.Errorf("the same catalog again: %s", again.Outcome)
	}
	other := copyFS(t, files)
	other["packages/p.json"].Data = []byte(strings.Replace(describedPackage, `"Other"`, `"By"`, 1))
	if said := build(t, st, other, someDay.Add(time.Hour)).Losses(); !slices.Contains(said,
		`note: licenses have changed: stub: "By", was "Other"`) {
		t.Errorf("another license: %q", said)
	}

	// A source that changed after the file was published is not in the file.
	files["catalog.json"] = listing("2025-01-01T12:00:00", "")
	earlier := build(t, st, files, someDay.Add(2*time.Hour))
	if got := manifestOf(t, st, earlier).Source("idps").Updated; !got.Equal(at("2025-01-01T12:00:00Z")) {
		t.Errorf("updated %s, want the time of the file", got)
	}

	// Another licence is published, though no row has changed.
	files["packages/p.json"].Data = []byte(strings.Replace(describedPackage, `"Other"`, `"CC BY"`, 1))
	licence := build(t, st, files, someDay.Add(3*time.Hour))
	if d, _ := manifestOf(t, st, licence).Dataset("set"); licence.Outcome != "published" || d.License != "CC BY" {
		t.Errorf("another licence: %s, %+v", licence.Outcome, d)
	}
	sameTables(t, "another licence", licence, earlier)

	// A kept table has the age that it had, whatever its sources have become.
	files["idps/a.csv"].Data = []byte("<html>")
	files["packages/p.json"].Data = []byte(strings.ReplaceAll(describedPackage, "2025-", "2026-"))
	files["catalog.json"] = listing("2026-06-01T00:00:00", "")
	old := &previous{state: loadState{Stale: []Stale{{Role: "idps", Path: "idps/a.csv"}}}}
	for _, of := range [][2]string{{"idps", "idps/b.csv"}, {"funding", "idps/a.csv"}} {
		testkit.Equal(t, old.staleSince(of[0], of[1], someDay), someDay, "%s, another source", of)
	}
	for n := range 2 {
		kept := build(t, st, files, someDay.Add(time.Duration(4+n)*time.Hour))
		s := manifestOf(t, st, kept).Source("idps")
		if !s.Updated.Equal(at("2025-01-01T12:00:00Z")) || !s.StaleSince.Equal(someDay.Add(4*time.Hour)) ||
			!strings.Contains(s.StaleWhy, "header lacks") || !slices.Equal(s.Datasets, []string{"set"}) {
			t.Errorf("load %d: the kept table has %+v", n, s)
		}
	}
}

// TestSourcesWithoutPackages takes the descriptions of datasets from catalog.json, for a catalog
// and for view dumps, and completes those of packages with them.
func TestSourcesWithoutPackages(t *testing.T) {
	t.Parallel()
	const described = `, "datasets": [{"id": "set", "title": "Mine", "provider": "Desk", "license": "CC0",
		"license_url": "javascript:alert(1)", "terms": "none", "last_modified": "2025-04-05"}, {"id": "unused", "title": "x"}]`
	files := smallCatalog(t)
	files["catalog.json"] = listing("", described)
	for _, c := range []struct {
		name string
		pack string
		want store.Dataset
	}{
		{"no package", "", store.Dataset{
			ID: "set", Title: "Mine", Publisher: "Desk", License: "CC0", Terms: "none",
			Updated: at("2025-04-05T00:00:00Z"),
		}},
		{"a package without a licence", smallPackage, store.Dataset{
			ID: "set", Name: "stub", Title: "T", Publisher: "O", License: "CC0", Terms: "none",
			Updated: at("2025-04-05T00:00:00Z"),
		}},
		{
			"fields of other types",
			strings.Replace(smallPackage, `"title"`, `"license_title": {}, "caveats": null, "title"`, 1),
			store.Dataset{
				ID: "set", Name: "stub", Title: "T", Publisher: "O", License: "CC0", Terms: "none",
				Updated: at("2025-04-05T00:00:00Z"),
			},
		},
	} {
		delete(files, "packages/p.json")
		if c.pack != "" {
			files["packages/p.json"] = &fstest.MapFile{Data: []byte(c.pack)}
		}
		st := openStore(t)
		m := manifestOf(t, st, build(t, st, files, someDay))
		if !reflect.DeepEqual(m.Datasets, []store.Dataset{c.want}) {
			t.Errorf("%s: datasets %+v, want %+v", c.name, m.Datasets, c.want)
		}
	}
	views, _ := smallViews(t)
	views["catalog.json"].Data = []byte(`{"format": 1, "catalog_url": "https://data.example.org",
		"snapshot_time": "2026-11-21T01:02:00Z", "datasets": [{"id": "d1", "license": "CC0", "title": "not used"}]}`)
	st := openStore(t)
	m := manifestOf(t, st, build(t, st, views, someDay))
	want := []store.Dataset{{
		ID: "d1", Name: "first-set", Title: "First “set”", Publisher: "Provider One", License: "CC0",
	}}
	if !reflect.DeepEqual(m.Datasets, want) {
		t.Errorf("view dumps: datasets %+v, want %+v", m.Datasets, want)
	}
	for table, updated := range map[string]string{
		"idps": "2026-01-01T00:00:00Z", "conflict_event": "2026-01-02T03:04:05Z",
	} {
		if s := m.Source(table); !s.Updated.Equal(at(updated)) || !slices.Equal(s.Datasets, []string{"d1"}) {
			t.Errorf("view dumps: %s has %+v, want %s", table, s, updated)
		}
	}
	// The dumps of datasets and resources are lost: their tables are kept, and what they say.
	delete(views, "dataset_view.csv")
	delete(views, "resource_view.csv")
	kept := manifestOf(t, st, build(t, st, views, someDay))
	if !reflect.DeepEqual(kept.Datasets, want) || !kept.Source("idps").Updated.Equal(at("2026-01-01T00:00:00Z")) ||
		kept.Source("resource").StaleSince.IsZero() || !kept.Source("idps").StaleSince.IsZero() {
		t.Errorf("kept: %+v, %+v", kept.Sources, kept.Datasets)
	}
}

// TestStaleTables finds the tables that stale files and lists concern.
func TestStaleTables(t *testing.T) {
	t.Parallel()
	early, late := someDay, someDay.Add(time.Hour)
	got := staleTables([]Stale{
		{Role: "conflict-events", Path: "conflict-events/2024.csv", Why: "b", Since: late},
		{Role: "conflict-events", Path: "conflict-events/2025.csv", Why: "a", Since: early},
		{Role: "idps", Path: "idps", Why: "c", Since: late},
		{Role: "pcodes", Path: "reference/pcodes.csv", Since: early},
		{Role: "package", Path: "packages/x.json", Since: early},
		{Role: "sector_view", Path: "sector", Since: late},
		{Role: "location", Path: "reference/location.csv", Since: late},
		{Role: "unknown", Path: "x", Since: late},
	})
	var tables []string
	for table, s := range got {
		tables = append(tables, fmt.Sprintf("%s %s %t", table, s.Why, s.whole))
	}
	slices.Sort(tables)
	want := []string{
		"admin1  false", "admin2  false", "conflict_event a false", "dataset  false", "idps c true", "location  false",
		"resource  false", "sector  true",
	}
	if !slices.Equal(tables, want) || !got["conflict_event"].Since.Equal(early) {
		t.Errorf("got %q, want %q", tables, want)
	}
}

// TestSourcesAfterFormat1 loads over a snapshot whose manifest has no sources, as programs before
// them wrote it: they are added although no table has changed, and then nothing changes any more.
func TestSourcesAfterFormat1(t *testing.T) {
	t.Parallel()
	files := smallCatalog(t)
	st := openStore(t)
	old := *manifestOf(t, st, build(t, st, files, someDay))
	old.Format, old.ID, old.Sources, old.Datasets = 1, "old", nil, nil
	testkit.Must(t, st.Snapshots.PutManifest(&old))
	testkit.Must(t, st.Channels.Publish(defaultChannel, old.ID, someDay))
	snap := testkit.Value(st.Snapshots.Open("old"))(t)
	testkit.Must(t, snap.Close())
	first := build(t, st, files, someDay)
	m := manifestOf(t, st, first)
	if first.Outcome != "published" || !slices.Equal(m.Tables, old.Tables) || len(m.Source("idps").Datasets) != 1 {
		t.Errorf("%s, sources %+v", first.Outcome, m.Sources)
	}
	if again := build(t, st, files, someDay); again.Outcome != "unchanged" {
		t.Errorf("again: %s", again.Outcome)
	}
}

var caseUnit = regexp.MustCompile(`(\S+?)/([^!"]*?)(!?) "([^"]*)"`)

// TestPrintedPlaces compares the columns of a place with each line of the case file.
func TestPrintedPlaces(t *testing.T) {
	t.Parallel()
	for _, c := range readCases(t, "testdata/place/printed.txt") {
		given, want := c.cut(" -> ")
		found := caseUnit.FindAllStringSubmatch(given, -1)
		var p place
		table, names := "poverty_rate", []string{"admin_level", "admin1_code", "admin1_name"}
		switch len(found) {
		case 2:
			u := found[1]
			p.code2, p.name2, p.placeholder2, p.provider2 = u[1], u[2], u[3] == "!", u[4]
			table, names = "idps", append(names, "admin2_code", "admin2_name")
			fallthrough
		case 1:
			u := found[0]
			p.code1, p.name1, p.placeholder1, p.provider1 = u[1], u[2], u[3] == "!", u[4]
		default:
			t.Fatalf("%s: %d units in %q", c.at, len(found), given)
		}
		g := newTableBuilder(tableNamed(table)).group("place")
		newPlaceVectors(g).set(p)
		var got []string
		for _, name := range names {
			v := g.column(name)
			switch {
			case name == "admin_level":
				got = append(got, fmt.Sprint(v.int(0)))
			case v.isNull(0):
				got = append(got, "null")
			case v.text(0) == "":
				got = append(got, "-")
			default:
				got = append(got, strings.ReplaceAll(v.text(0), " ", "_"))
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: prints %s, want %s", c.at, s, want)
		}
		if s := g.column("stored_admin1_name").text(0); s != p.name1 {
			t.Errorf("%s: filters see level 1 as %q, want %q", c.at, s, p.name1)
		}
	}
}

// sameTables checks that two reports name the same bytes for every table.
func sameTables(t *testing.T, what string, got, want *Report) {
	t.Helper()
	w := segmentsOf(want)
	for table, sum := range segmentsOf(got) {
		if w[table] != sum {
			t.Errorf("%s: table %s differs", what, table)
		}
	}
	if got.Rows != want.Rows || got.Partial != want.Partial && len(got.Fell) == 0 {
		t.Errorf("%s: rows %+v, partial %t; want %+v, %t", what, got.Rows, got.Partial, want.Rows, want.Partial)
	}
}
