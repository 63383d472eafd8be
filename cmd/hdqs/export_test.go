package main_test

import (
	"encoding/json"
	"testing"

	"hdqs/internal/testkit"
)

// bulkManifest is what these tests read of a manifest.
type bulkManifest struct {
	Snapshot string
	Tables   []bulkTable
}

type bulkTable struct {
	Table string
	Rows  int
	Files []struct{ Path, SHA256 string }
}

func readBulkManifest(t *testing.T, path string) (m bulkManifest) {
	t.Helper()
	testkit.Must(t, json.Unmarshal(testkit.ReadFile(t, path), &m))
	return m
}
