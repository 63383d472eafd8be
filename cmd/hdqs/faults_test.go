package main_test

import (
	"bytes"
	"path/filepath"
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

// change replaces a file by one with changed bytes.
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
