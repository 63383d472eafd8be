package bulk

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

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
	all, err := m.Documents(base)
	testkit.Must(t, err)
	texts := map[string]string{}
	for name, text := range all {
		var parsed map[string]any
		if err := json.Unmarshal(text, &parsed); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		texts[name] = string(text)
	}
	return texts
}

func has(t *testing.T, name, text string, wanted ...string) {
	t.Helper()
	flat := strings.Join(strings.Fields(text), " ")
	for _, want := range wanted {
		if !strings.Contains(flat, want) {
			t.Errorf("%s lacks %s:\n%s", name, want, text)
		}
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
	if strings.Contains(all["metadata/org.json"], `"point"`) {
		t.Error("the item has a column that the file lacks")
	}
	has(t, "the collection", all["collection.json"], `"./affected-people/collection.json"`, `"2025-12-31T23:59:59Z"`)
	// Without CSV, a resource for each Parquet file, and no record set of a table with several.
	has(t, "the package", all["datapackage.json"], `"name": "idps.location_code-afg"`, `"hash": "sha256:`+digest("e"),
		`"path": "idps/location_code=YEM/part-0.parquet"`, `"title": "P: T"`)
	if strings.Contains(all["croissant.json"], "idps/resource") {
		t.Error("a record set of one file of several")
	}
	has(t, "croissant", all["croissant.json"], `"@id": "org/acronym"`, `"contentUrl": "org/part-0.parquet"`)
	m := described()
	m.Tables[1].Files = append(m.Tables[1].Files,
		File{Path: "csv/idps.csv.gz", Format: CSVGzip, Rows: 3, SHA256: digest("9")})
	all = documents(t, m, "https://data.example/bulk/x/")
	has(t, "croissant", all["croissant.json"], `"contentUrl": "https://data.example/bulk/x/csv/idps.csv.gz"`,
		`"@id": "idps/resource_catalog_id"`)
	has(t, "the package", all["datapackage.json"], `"compression": "gz"`, `"path": "org/part-0.parquet"`)
	if strings.Contains(all["datapackage.json"], "location_code=YEM") {
		t.Error("a table is in the package twice")
	}
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
