package bulk

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// digest is a text of the form of a SHA-256.
func digest(letter string) string { return strings.Repeat(letter, 64) }

func small() *Manifest {
	return &Manifest{
		Format: ManifestFormat, Snapshot: "2026-11-22-1", Created: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC),
		Tables: []Table{{
			Table: "org", Endpoint: "/api/v2/metadata/org", Title: "Organisations", Rows: 2, Segment: digest("0"),
			SortedBy: []string{"acronym"}, Schema: []Column{{Name: "acronym", HAPIName: "acronym", Type: "string"}},
			Files: []File{{Path: "org/part-0.parquet", Format: Parquet, Rows: 2, Bytes: 900, SHA256: digest("a")}},
		}},
		Files: []File{{Path: "sources.csv", Format: CSV, Rows: 1, Bytes: 80, SHA256: digest("b")}},
	}
}

func TestManifestIsReadAsWritten(t *testing.T) {
	t.Parallel()
	data := testkit.Value(small().Encode())(t)
	m := testkit.Value(ParseManifest(data))(t)
	testkit.Equal(t, string(testkit.Value(m.Encode())(t)), string(data), "read and written again")
	f, ok := m.Find("org/part-0.parquet")
	if !ok || f.SHA256 != digest("a") {
		t.Fatalf("Find gives %+v, %v", f, ok)
	}
	testkit.Equal(t, f.Name(), "bulk/data/org/"+digest("a")+".parquet", "the file in a store")
	f, ok = m.Find("sources.csv")
	if got, want := f.Name(), "bulk/data/"+digest("b")+".csv"; !ok || got != want {
		t.Errorf("the file is %s in a store, want %s", got, want)
	}
	for _, path := range []string{
		"", "org", "org/", "/org/part-0.parquet", "org//part-0.parquet", "org/../sources.csv",
	} {
		if f, ok := m.Find(path); ok {
			t.Errorf("Find(%q) gives %+v", path, f)
		}
	}
}

func TestManifestRefusesWrongFields(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(*Manifest){
		"format":      func(m *Manifest) { m.Format = 2 },
		"id":          func(m *Manifest) { m.Snapshot = "../a" },
		"time":        func(m *Manifest) { m.Created = time.Time{} },
		"table":       func(m *Manifest) { m.Tables[0].Table = "a/b" },
		"table twice": func(m *Manifest) { m.Tables = append(m.Tables, m.Tables[0]) },
		"rows":        func(m *Manifest) { m.Tables[0].Rows = -1 },
		"segment":     func(m *Manifest) { m.Tables[0].Segment = "a" },
		"type":        func(m *Manifest) { m.Tables[0].Schema[0].Type = "text" },
		"column":      func(m *Manifest) { m.Tables[0].Schema = append(m.Tables[0].Schema, m.Tables[0].Schema[0]) },
		"order":       func(m *Manifest) { m.Tables[0].SortedBy = []string{"name"} },
		"partition":   func(m *Manifest) { m.Tables[0].PartitionedBy = "name" },
		"file twice":  func(m *Manifest) { m.Files[0] = m.Tables[0].Files[0] },
		"file format": func(m *Manifest) { m.Files[0].Format = "exe" },
		"other name":  func(m *Manifest) { m.Files[0].Path = "sources.json" },
		"bytes":       func(m *Manifest) { m.Files[0].Bytes = -1 },
		"digest":      func(m *Manifest) { m.Files[0].SHA256 = digest("A") },
		"parent":      func(m *Manifest) { m.Files[0].Path = "../sources.csv" },
		"absolute":    func(m *Manifest) { m.Files[0].Path = "/sources.csv" },
		"hidden":      func(m *Manifest) { m.Files[0].Path = "org/.sources.csv" },
		"long path":   func(m *Manifest) { m.Files[0].Path = strings.Repeat("a", maxPath) + ".csv" },
		"blank":       func(m *Manifest) { m.Files[0].Path = "a b.csv" },
	} {
		m := small()
		damage(m)
		data := testkit.Value(json.Marshal(m))(t)
		testkit.Fails(ParseManifest(data))(t, snapshot.ErrCorrupt, "%s: error", name)
		if _, err := m.Encode(); err == nil {
			t.Errorf("%s: was encoded", name)
		}
	}
}

// FuzzManifest checks that what is accepted stays in its folder and can be written and read again.
func FuzzManifest(f *testing.F) {
	good := testkit.Value(small().Encode())(f)
	f.Add(good)
	catalogs := testkit.Value(described().Encode())(f)
	f.Add(catalogs)
	f.Add([]byte(strings.ReplaceAll(string(catalogs), "affected-people/idps", "-")))
	for _, change := range [][2]string{
		{"org/part-0", "org/../part-0"},
		{"org/part-0", "/org/part-0"},
		{"org/part-0", `org\u0000part-0`},
		{digest("a"), digest("b")},
		{`"rows": 2`, `"rows": 2e99`},
		{`"files"`, `"FILES"`},
		{"{", "[{"},
		{"2026-11", "9999-99"},
	} {
		f.Add([]byte(strings.Replace(string(good), change[0], change[1], 1)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest(data)
		if err != nil {
			if !errors.Is(err, snapshot.ErrCorrupt) {
				t.Fatalf("error %v, want ErrCorrupt", err)
			}
			return
		}
		for file := range m.All {
			if found, ok := m.Find(file.Path); !ok || found != file {
				t.Fatalf("%q is in the manifest, and not found", file.Path)
			}
			for _, name := range []string{file.Path, file.Name()} {
				if !filepath.IsLocal(name) || filepath.Clean(name) != name {
					t.Fatalf("%q leaves its folder", name)
				}
			}
		}
		testkit.Value(m.Documents(""))(t)
		again := testkit.Value(m.Encode())(t)
		if _, err := ParseManifest(again); err != nil {
			t.Fatalf("cannot be read again: %v", err)
		}
	})
}

// TestIndexForReadersOfSTAC: each link that readers of STAC follow is to a STAC document of the
// snapshot. The manifests, which are none, have another relation.
func TestIndexForReadersOfSTAC(t *testing.T) {
	t.Parallel()
	without, with := small(), described()
	without.Snapshot, without.Created = "s1", with.Created.AddDate(0, 0, -1)
	x := NewIndex([]*Manifest{without, with})
	followed := []string{}
	for _, l := range x.Links {
		if l.Rel == "self" || l.Rel == "root" || l.Rel == "manifest" {
			continue
		}
		followed = append(followed, l.Rel+" "+l.Href)
		var document struct{ Type string }
		text := documents(t, with, "")[path.Base(l.Href)]
		if err := json.Unmarshal([]byte(text), &document); err != nil || document.Type != "Collection" {
			t.Errorf("%s is no collection: %v", l.Href, err)
		}
	}
	testkit.EqualLists(t, followed, []string{"child " + with.Snapshot + "/collection.json"}, "links")
	if l := x.Links[2]; l.Rel != "manifest" || l.Snapshot != with.Snapshot ||
		l.Href != with.Snapshot+"/manifest.json" || len(x.Links) != 5 {
		t.Errorf("%d links, the third %+v", len(x.Links), l)
	}
}

// TestAssetsAreFiles: every asset of an item is a file of the manifest.
func TestAssetsAreFiles(t *testing.T) {
	t.Parallel()
	m := described()
	files := map[string]bool{}
	for f := range m.All {
		files[f.Path] = true
	}
	assets := 0
	for name, text := range documents(t, m, "") {
		var item struct {
			Type   string
			Assets map[string]struct{ Href string }
		}
		if json.Unmarshal([]byte(text), &item) != nil || item.Type != "Feature" {
			continue
		}
		for key, asset := range item.Assets {
			assets++
			if at := path.Join(path.Dir(name), asset.Href); !files[at] || (key == "data") == strings.Contains(at, "=") {
				t.Errorf("%s: asset %s is at %s, which is no file", name, key, at)
			}
		}
	}
	testkit.Equal(t, assets, 3, "assets")
}

// described is a manifest with a table of two levels, and one without any.
func described() *Manifest {
	m := small()
	m.Tables[0].Schema = append(m.Tables[0].Schema, Column{Name: "point", HAPIName: "point", Type: "geometry"})
	m.Tables[0].Sources = []Source{
		{Dataset: "d", Title: "T", Provider: "P", License: "CC BY", LicenseURL: "https://l.example"}, {Dataset: "e"},
	}
	m.Tables[0].Files = append(m.Tables[0].Files,
		File{Path: "metadata/org.parquet", Format: HAPIParquet, Rows: 2, Bytes: 800, SHA256: digest("c")})
	level := func(n int, from, to string) File {
		return File{
			Path: fmt.Sprintf("affected-people/idps/admin_level=%d/part-0.parquet", n), Format: HAPIParquet, Rows: n,
			Bytes: 700, SHA256: digest("d"), Min: map[string]string{"reference_period_start": from},
			Max: map[string]string{"reference_period_end": to},
		}
	}
	m.Tables = append(m.Tables, Table{
		Table: "idps", Endpoint: "/api/v2/affected-people/idps", Title: "Displaced", Rows: 3, Segment: digest("1"),
		PartitionedBy: "location_code",
		Schema: []Column{
			{Name: "location_code", HAPIName: "location_code", Type: "string"},
			{Name: "resource_catalog_id", HAPIName: "resource_hdx_id", Type: "string"},
			{Name: "reference_period_start", HAPIName: "reference_period_start", Type: "timestamp"},
		},
		Files: []File{
			{Path: "idps/location_code=AFG/part-0.parquet", Format: Parquet, Rows: 1, Bytes: 9, SHA256: digest("e")},
			{Path: "idps/location_code=YEM/part-0.parquet", Format: Parquet, Rows: 2, Bytes: 9, SHA256: digest("f")},
			level(1, "2024-01-01T00:00:00", "2025-12-31T23:59:59"),
			level(2, "2023-01-01T00:00:00", "2024-12-31T23:59:59"),
		},
	})
	return m
}

func documents(t *testing.T, m *Manifest, base string) map[string]string {
	t.Helper()
	all := testkit.Value(m.Documents(base))(t)
	texts := map[string]string{}
	for name, text := range all {
		var parsed map[string]any
		testkit.Is(t, json.Unmarshal(text, &parsed), nil, "%s", name)
		texts[name] = string(text)
	}
	return texts
}

func has(t *testing.T, name, text string, wanted ...string) {
	t.Helper()
	flat := strings.Join(strings.Fields(text), " ")
	for _, want := range wanted {
		testkit.Contains(t, flat, want, "%s:\n%s", name, text)
	}
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	all := documents(t, described(), "")
	want := []string{
		"affected-people/collection.json", "affected-people/idps.json", "collection.json", "croissant.json",
		"datapackage.json", "metadata/collection.json", "metadata/org.json",
	}
	if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, want) {
		t.Fatalf("documents %q, want %q", got, want)
	}
	has(t, "the item", all["affected-people/idps.json"],
		`"id": "affected-people/idps"`, `"name": "resource_hdx_id", "type": "string"`,
		`"start_datetime": "2023-01-01T00:00:00Z"`, `"end_datetime": "2025-12-31T23:59:59Z"`, `"datetime": null`,
		`"href": "./idps/admin_level=1/part-0.parquet"`, `"table:row_count": 3`,
		`"description": "", "name": "reference_period_start", "type": "string"`)
	has(t, "the flat item", all["metadata/org.json"], `"href": "./org.parquet"`, `"href": "https://l.example"`,
		`"datetime": "2026-11-22T00:00:00Z"`, `"name": "P", "roles"`)
	testkit.Lacks(t, all["metadata/org.json"], `"point"`, "the item has a column that the file lacks")
	has(t, "the collection", all["collection.json"], `"./affected-people/collection.json"`, `"2025-12-31T23:59:59Z"`)
	// Without CSV, a resource for each Parquet file, and no record set of a table with several.
	has(t, "the package", all["datapackage.json"], `"name": "idps.location_code-afg"`, `"hash": "sha256:`+digest("e"),
		`"path": "idps/location_code=YEM/part-0.parquet"`, `"title": "P: T"`)
	testkit.Lacks(t, all["croissant.json"], "idps/resource", "a record set of one file of several")
	has(t, "croissant", all["croissant.json"], `"@id": "org/acronym"`, `"contentUrl": "org/part-0.parquet"`)
	m := described()
	m.Tables[1].Files = append(m.Tables[1].Files,
		File{Path: "csv/idps.csv.gz", Format: CSVGzip, Rows: 3, SHA256: digest("9")})
	all = documents(t, m, "https://data.example/bulk/x/")
	has(t, "croissant", all["croissant.json"], `"contentUrl": "https://data.example/bulk/x/csv/idps.csv.gz"`,
		`"@id": "idps/resource_catalog_id"`)
	has(t, "the package", all["datapackage.json"], `"compression": "gz"`, `"path": "org/part-0.parquet"`)
	testkit.Lacks(t, all["datapackage.json"], "location_code=YEM", "a table is in the package twice")
}

// TestNoSTACWithoutItsFiles: only files in the layout of HDX HAPI have STAC documents.
func TestNoSTACWithoutItsFiles(t *testing.T) {
	t.Parallel()
	if got := slices.Sorted(maps.Keys(documents(t, small(), ""))); !slices.Equal(got, []string{
		"croissant.json", "datapackage.json",
	}) {
		t.Errorf("documents %q", got)
	}
}
