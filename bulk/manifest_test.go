package bulk

import (
	"encoding/json"
	"errors"
	"path/filepath"
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
	data, err := small().Encode()
	testkit.Must(t, err)
	m, err := ParseManifest(data)
	testkit.Must(t, err)
	again, err := m.Encode()
	if err != nil || string(again) != string(data) {
		t.Errorf("read and written again, %v:\n%s\nwas:\n%s", err, again, data)
	}
	f, ok := m.Find("org/part-0.parquet")
	if !ok || f.SHA256 != digest("a") {
		t.Fatalf("Find gives %+v, %v", f, ok)
	}
	if got, want := f.Name(), "bulk/data/org/"+digest("a")+".parquet"; got != want {
		t.Errorf("the file is %s in a store, want %s", got, want)
	}
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
		data, err := json.Marshal(m)
		testkit.Must(t, err)
		if _, err := ParseManifest(data); !errors.Is(err, snapshot.ErrCorrupt) {
			t.Errorf("%s: error %v, want ErrCorrupt", name, err)
		}
		if _, err := m.Encode(); err == nil {
			t.Errorf("%s: was encoded", name)
		}
	}
}

// FuzzManifest checks that what is accepted stays in its folder and can be written and read again.
func FuzzManifest(f *testing.F) {
	good, err := small().Encode()
	testkit.Must(f, err)
	f.Add(good)
	catalogs, err := described().Encode()
	testkit.Must(f, err)
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
		_, err = m.Documents("")
		testkit.Must(t, err)
		again, err := m.Encode()
		testkit.Must(t, err)
		if _, err := ParseManifest(again); err != nil {
			t.Fatalf("cannot be read again: %v", err)
		}
	})
}
