package main

import (
	"bytes"
	"os"
	"testing"
)

// TestStale fails when the embedded map is not the one that the source gives.
func TestStale(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../api/web/npm/world-atlas/countries-110m.json")
	if err != nil {
		t.Fatal(err)
	}
	want, err := worldMap(source)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../api/chart/world.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("api/chart/world.txt is stale, run: go generate ./api/chart")
	}
}
