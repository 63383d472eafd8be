package store

import (
	"errors"
	"strings"
	"testing"

	"hdqs/snapshot"
)

const goodManifest = `{
  "format": 1,
  "id": "s1",
  "snapshot_time": "2024-03-01T12:00:00Z",
  "catalog_url": "https://catalog.example",
  "tables": [
    {"table": "a", "sha256": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "rows": 7,
	"bytes": 100}
  ],
  "state": {"any": [1, {"thing": null}]}
}`

// TestMalformedManifests makes one fault at a time in a valid manifest.
func TestMalformedManifests(t *testing.T) {
	t.Parallel()
	if _, err := ParseManifest([]byte(goodManifest)); err != nil {
		t.Fatal(err)
	}
	faults := []struct{ name, old, new, says string }{
		{"format_of_the_future", `"format": 1`, `"format": 2`, "format 2"},
		{"format_missing", `"format": 1,`, ``, "format 0"},
		{"format_not_a_number", `"format": 1`, `"format": "1"`, "format"},
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
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParseChannel(data)
		switch {
		case err == nil && (checkID(p.ID) != nil || checkHash(p.SHA256) != nil):
			t.Fatalf("pointer %+v", p)
		case err != nil && !errors.Is(err, snapshot.ErrCorrupt):
			t.Fatal(err)
		}
	})
}
