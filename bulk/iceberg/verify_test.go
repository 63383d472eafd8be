package iceberg

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/bulk"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// TestVerify: tables agree as they are written, and after a collection. Any changed byte and any
// missing file is found, and the next update mends it.
func TestVerify(t *testing.T) {
	dir := t.TempDir()
	st, err := store.Open(dir)
	testkit.Must(t, err)
	b, at := bulk.Open(st), time.Unix(1_700_000_000, 0).UTC()
	place := func(s string) []cells { return []cells{{Place: &s}} }
	one, two := putFile(t, b, "event/part-0.parquet", place("b")), putFile(t, b, "event/part-1.parquet", place("c"))
	put := func(id string, at time.Time, files ...bulk.File) *bulk.Manifest {
		m := &bulk.Manifest{Format: bulk.ManifestFormat, Snapshot: id, Created: at, Tables: []bulk.Table{{
			Table: "event", Segment: strings.Repeat("0", 64), Files: files,
			Schema: []bulk.Column{{Name: "place", Type: "string", Meaning: "where"}},
		}}}
		testkit.WriteFile(t, filepath.Join(dir, bulk.ManifestName(id)), must(m.Encode()))
		return m
	}
	update := func() {
		t.Helper()
		testkit.Must(t, Update(b, dir, "", nil))
	}
	agrees := func(what string, m *bulk.Manifest, want bool) {
		t.Helper()
		if err := Verify(dir, m, m.Snapshot == "s3"); (err == nil) != want {
			t.Errorf("%s, snapshot %s: %v", what, m.Snapshot, err)
		}
	}
	first := put("s1", at, one)
	agrees("no table", first, true)
	update()
	second, third := put("s2", at.Add(time.Hour), one, two), put("s3", at.Add(2*time.Hour), two)
	agrees("before the update", second, true)
	agrees("before the update", third, false) // which is the latest one
	update()
	for _, m := range []*bulk.Manifest{first, second, third} {
		agrees("all", m, true)
	}
	testkit.Must(t, Expire(dir, map[string]bool{"s2": true, "s3": true}))
	agrees("collected", second, true)
	agrees("collected", third, true)
	other := *third
	other.Tables = slices.Clone(third.Tables)
	other.Tables[0].Files = []bulk.File{putFile(t, b, "event/part-2.parquet", place("d"))}
	agrees("a manifest with another file", &other, false)

	metadata := filepath.Join(dir, filepath.FromSlash(Folder), "event", "metadata")
	entries, err := os.ReadDir(metadata)
	if err != nil || len(entries) < 6 {
		t.Fatal(entries, err)
	}
	for _, e := range entries {
		path := filepath.Join(metadata, e.Name())
		good := testkit.ReadFile(t, path)
		for at := range good {
			for _, bit := range []byte{1, 32} {
				bad := slices.Clone(good)
				bad[at] ^= bit
				if e.Name() != hintName && isWhole(e.Name(), bad) {
					t.Fatalf("%s: byte %d, %q to %q, is not noticed", e.Name(), at, good[at], bad[at])
				}
				if at%199 == 0 {
					testkit.WriteFile(t, path, bad)
					agrees(e.Name()+" changed", third, false)
				}
			}
		}
		longer := append(slices.Clip(good), 'x')
		for what, bad := range map[string][]byte{"cut": good[:len(good)-1], "empty": nil, "longer": longer} {
			testkit.WriteFile(t, path, bad)
			agrees(e.Name()+" "+what, third, false)
		}
		testkit.WriteFile(t, path, good)
	}
	agrees("whole again", third, true)

	update()
	version, text, err := currentVersion(metadata)
	names, ok := filesOf(text)
	if err != nil || !ok {
		t.Fatal(version, err)
	}
	for name := range names {
		path := filepath.Join(metadata, name)
		for _, bad := range [][]byte{bytes.Repeat([]byte{7}, len(testkit.ReadFile(t, path))), nil} {
			testkit.WriteFile(t, path, bad)
			agrees(name, third, false)
			update()
			agrees(name+" written again", third, true)
		}
		testkit.Must(t, os.Remove(path))
		agrees(name+" removed", third, false)
		update()
	}
	agrees("mended", third, true)
}
