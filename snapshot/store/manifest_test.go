//go:build !race

package store

import (
	"errors"
	"strings"
	"testing"
	"time"

	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

const goodManifest = `{
  "format": 2,
  "id": "s1",
  "snapshot_time": "2024-03-01T12:00:00Z",
  "catalog_url": "https://catalog.example",
  "tables": [
    {"table": "a", "sha256": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "rows": 7,
	"bytes": 100}
  ],
  "sources": [
    {"table": "a", "updated": "2024-02-29T06:07:08Z", "stale_since": "2024-03-01T00:00:00Z", "stale_why": "cut off",
	"datasets": ["d1", "d3"]}
  ],
  "datasets": [{"id": "d1", "publisher": "Some Office", "license": "CC BY"}, {"id": "d2"}],
  "state": {"any": [1, {"thing": null}]}
}`

// firstManifest has the form of format 1.
const firstManifest = `{"format": 1, "id": "s1", "snapshot_time": "2024-03-01T12:00:00Z", "catalog_url": "", "tables": [
  {"table": "a", "sha256": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "rows": 7, "bytes": 100}]}`

// TestSources finds the sources of a table and the description of a dataset, and nothing in a
// manifest that has none.
func TestSources(t *testing.T) {
	t.Parallel()
	m, err := ParseManifest([]byte(goodManifest))
	testkit.Must(t, err)
	s := m.Source("a")
	updated := time.Date(2024, 2, 29, 6, 7, 8, 0, time.UTC)
	if !s.Updated.Equal(updated) || s.StaleWhy != "cut off" || s.StaleSince.IsZero() {
		t.Errorf("the sources of a are %+v", s)
	}
	if d, ok := m.Dataset("d1"); !ok || d.Publisher != "Some Office" || d.License != "CC BY" {
		t.Errorf("dataset d1 is %+v, %t", d, ok)
	}
	for _, id := range []string{"", "d3", "d0"} {
		if d, ok := m.Dataset(id); ok {
			t.Errorf("dataset %q is %+v", id, d)
		}
	}
	if m, err = ParseManifest([]byte(firstManifest)); err != nil {
		t.Fatal(err)
	}
	if s := m.Source("a"); s.Table != "a" || !s.Updated.IsZero() || !s.StaleSince.IsZero() || s.Datasets != nil {
		t.Errorf("without sources they are %+v", s)
	}
	if text, err := m.encode(); err != nil || strings.Contains(string(text), "sources") {
		t.Errorf("written again: %v, %s", err, text)
	}
}

// TestMalformedManifests makes one fault at a time in a valid manifest.
func TestMalformedManifests(t *testing.T) {
	t.Parallel()
	if _, err := ParseManifest([]byte(goodManifest)); err != nil {
		t.Fatal(err)
	}
	faults := []struct{ name, old, new, says string }{
		{"format_of_the_future", `"format": 2`, `"format": 3`, "format 3"},
		{"format_of_the_past", `"format": 2`, `"format": 1`, "sources"},
		{"source_of_no_table", `{"table": "a", "updated"`, `{"table": "b", "updated"`, "does not have"},
		{"source_twice", `"sources": [`, `"sources": [{"table": "a"}, `, "twice"},
		{"source_time", `2024-02-29`, `2023-02-29`, "day"},
		{"datasets_out_of_order", `"id": "d2"`, `"id": "d0"`, "ascend"},
		{"dataset_twice", `"id": "d2"`, `"id": "d1"`, "ascend"},
		{"dataset_without_id", `"id": "d1", `, ``, "ascend"},
		{"format_missing", `"format": 2,`, ``, "format 0"},
		{"format_not_a_number", `"format": 2`, `"format": "2"`, "format"},
		{"field_unknown", `"id"`, `"ID2": 1, "id"`, "ID2"},
		{"id_missing", `"id": "s1",`, ``, "letters"},
		{"id_that_climbs", `"s1"`, `"../s1"`, "letters"},
		{"id_of_a_report", `"s1"`, `"s1.report"`, "report"},
		{"time_missing", `"snapshot_time": "2024-03-01T12:00:00Z",`, ``, "time"},
		{"time_impossible", `2024-03-01`, `2024-02-31`, "day"},
		{"hash_short", `0123456789abcdef0123`, `0123`, "SHA-256"},
		{"hash_upper_case", `abcdef`, `ABCDEF`, "SHA-256"},
		{"hash_not_hexadecimal", `abcdef`, `ghijkl`, "SHA-256"},
		{"hash_that_climbs", `0123456789abcdef0123`, `../`, "SHA-256"},
		{"table_without_name", `"a"`, `""`, "name"},
		{"rows_negative", `"rows": 7`, `"rows": -7`, "rows"},
		{"rows_beyond_limit", `"rows": 7`, `"rows": 2147483648`, "rows"},
		{"rows_not_whole", `"rows": 7`, `"rows": 7.5`, "rows"},
		{"bytes_too_few", `"bytes": 100`, `"bytes": 3`, "bytes"},
		{"bytes_beyond_64_bits", `"bytes": 100`, `"bytes": 99999999999999999999`, "bytes"},
		{"more_after_the_end", `{"any": [1, {"thing": null}]}` + "\n}", `1} {}`, "after"},
		{"cut_short", `"state"`, ``, "manifest"},
		{"table_twice", `"tables": [`, `"tables": [{"table": "a", "sha256": "` + strings.Repeat("00", 32) +
			`", "rows": 7, "bytes": 100},`, "twice"},
	}
	for _, f := range faults {
		text := strings.Replace(goodManifest, f.old, f.new, 1)
		if text == goodManifest {
			t.Fatalf("%s: %q is not in the manifest", f.name, f.old)
		}
		if _, err := ParseManifest([]byte(text)); !errors.Is(err, snapshot.ErrCorrupt) ||
			!strings.Contains(err.Error(), f.says) {
			t.Errorf("%s: %v, want an error with %q", f.name, err, f.says)
		}
	}
}

// FuzzParseManifest: any bytes give a manifest that can be written again, or snapshot.ErrCorrupt.
func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(goodManifest))
	f.Add([]byte(firstManifest))
	f.Add([]byte(`{"format": 1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest(data)
		if err != nil {
			if !errors.Is(err, snapshot.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		text, err := m.encode()
		if err != nil {
			t.Fatalf("cannot write a parsed manifest: %v", err)
		}
		if _, err := ParseManifest(text); err != nil {
			t.Fatalf("cannot parse a written manifest: %v", err)
		}
	})
}

func FuzzParseChannel(f *testing.F) {
	f.Add([]byte(`{"id": "s1", "published_at": "2024-03-01T12:00:00Z", "sha256": "` + strings.Repeat("00", 32) + `"}`))
	pointer := `"id": "s1", "published_at": "2024-03-01T12:00:00Z", "sha256": "` + strings.Repeat("00", 32) + `"`
	f.Add([]byte(`{` + pointer + `, "canary": {"percent": 10, "of": {` + pointer + `}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParseChannel(data)
		switch {
		case err == nil && (CheckID(p.ID) != nil || checkHash(p.SHA256) != nil):
			t.Fatalf("pointer %+v", p)
		case err == nil && p.Canary != nil &&
			(p.Canary.Percent < 1 || p.Canary.Percent > 100 || p.Canary.Of.check() != nil):
			t.Fatalf("canary %+v", p.Canary)
		case err != nil && !errors.Is(err, snapshot.ErrCorrupt):
			t.Fatal(err)
		}
	})
}
