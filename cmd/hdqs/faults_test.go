package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// pathOf returns the first file below the store that matches a pattern.
func pathOf(t *testing.T, store, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(store, filepath.FromSlash(pattern)))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: no file matches %s, %v", store, pattern, err)
	}
	return found[0]
}

// segmentOf returns the file of a table.
func segmentOf(t *testing.T, store, table string) string {
	t.Helper()
	view, _ := inspect(t, store)
	for _, ref := range view.Tables {
		if ref.Table == table {
			return pathOf(t, store, "segments/"+ref.SHA256+".seg")
		}
	}
	t.Fatalf("no table %s", table)
	return ""
}

// manifestOf returns the manifest's file, which has the report's name without ".report".
func manifestOf(t *testing.T, store string) string {
	t.Helper()
	return strings.TrimSuffix(pathOf(t, store, "manifests/*.report.json"), ".report.json") + ".json"
}

// change replaces a file by one with changed bytes. It does not write to the file in place, which
// is what TestFilesChangedUnderLoad does.
func change(t *testing.T, path string, with func([]byte) []byte) {
	t.Helper()
	before := testkit.ReadFile(t, path)
	after := with(bytes.Clone(before))
	if bytes.Equal(before, after) {
		t.Fatalf("%s did not change", path)
	}
	testkit.ReplaceFile(t, path, after)
}

// flipBit changes one bit; a negative offset counts from the end.
func flipBit(at int) func([]byte) []byte {
	return func(b []byte) []byte {
		b = bytes.Clone(b)
		b[(at+len(b))%len(b)] ^= 1
		return b
	}
}

func truncate(b []byte) []byte { return b[:len(b)/2] }
func otherJSON([]byte) []byte  { return []byte(`{"some":"other","program":1}` + "\n") }

// TestDamagedStore: every command refuses a damaged snapshot with exit code 4 and names the file.
// verify accepts the store before. snapshot and internal/follow have more kinds of damage.
func TestDamagedStore(t *testing.T) {
	parallel(t)
	whole := sampleStore(t)
	type verified struct {
		ID    string
		OK    bool
		Fault string
	}
	view, _ := inspect(t, whole)
	sound := decode[verified](t, []byte(mustExit(t, 0, "verify", "--store", whole, "--json").stdout))
	if sound.ID != view.ID || !sound.OK || sound.Fault != "" {
		t.Errorf("verify --json: %+v", sound)
	}
	for name, d := range map[string]struct {
		file string
		with func([]byte) []byte // nil removes the file
		says string
	}{
		"flipped bit":     {segmentOf(t, whole, "conflict_event"), flipBit(5000), "conflict_event"},
		"missing segment": {segmentOf(t, whole, "conflict_event"), nil, "conflict_event"},
		"half a manifest": {manifestOf(t, whole), truncate, "manifest"},
		"other pointer":   {filepath.Join(whole, "channels", "stable.json"), otherJSON, "stable.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := copyStore(t, whole)
			file := filepath.Join(store, strings.TrimPrefix(d.file, whole))
			if d.with != nil {
				change(t, file, d.with)
			} else if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"serve", "--listen", "127.0.0.1:0"},
				{"query", with("/api/v2/metadata/sector")},
				{"inspect"},
				{"verify"},
			} {
				o := mustExit(t, 4, append(args, "--store", store)...)
				if o.stdout != "" || !strings.Contains(o.stderr, d.says) || strings.Contains(o.stderr, "goroutine") {
					t.Errorf("%s: stdout %.200q, stderr %q; want %q", args[0], o.stdout, o.stderr, d.says)
				}
			}
			o := mustExit(t, 4, "verify", "--store", store, "--json")
			if v := decode[verified](t, []byte(o.stdout)); v.OK || v.Fault == "" {
				t.Errorf("verify --json: %s", o.stdout)
			}
		})
	}
}
