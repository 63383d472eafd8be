package main

import (
	"bytes"
	"os"
	"testing"
)

// TestStale fails when an embedded file is not the one that the source gives.
func TestStale(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../api/web/npm/world-atlas/countries-110m.json")
	if err != nil {
		t.Fatal(err)
	}
	countries, err := read(source)
	if err != nil {
		t.Fatal(err)
	}
	for folder, c := range map[string]struct {
		name string
		want []byte
	}{
		"api/chart":          {"world.txt", worldMap(countries)},
		"internal/generator": {"outlines.txt", outlines(countries)},
	} {
		got, err := os.ReadFile("../../" + folder + "/" + c.name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, c.want) {
			t.Errorf("%s/%s is stale, run: go generate ./%s", folder, c.name, folder)
		}
	}
}
