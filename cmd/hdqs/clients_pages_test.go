package main_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// TestClientsPages has a separate program recompute what pages show, with DuckDB over the CSV of
// whole lists: figures, tiles and marks of random views of the 13 lists of data and of pages of
// countries, all headline figures, and sums at the coarsest level. A page that refuses a figure has
// a button to one with a figure, and none refuses a right sum.
func TestClientsPages(t *testing.T) {
	parallel(t)
	python := filepath.Join(clientsDir(t), "engines", "bin", "python")
	check := func(name, views string, store func(t *testing.T) string) {
		t.Run(name, func(t *testing.T) {
			s := serve(t, "--store", store(t))
			command := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "clients", "views.py"),
				s.base, views, strconv.Itoa(testkit.Trials(60, 9)), "30", t.TempDir())
			output, err := command.CombinedOutput()
			if t.Logf("%.20000s", output); err != nil || !bytes.HasPrefix(output, []byte("0 faults;")) {
				t.Errorf("pages differ: %v", err)
			}
		})
	}
	check("made up", strconv.Itoa(testkit.Trials(200, 3)), sampleStore)
	if testkit.Long() {
		check("real", "200", fixtureStore)
		check("edited", "200", func(t *testing.T) string {
			return newStoreOf(t, generator.Options{Seed: 7, Scale: 0.01, Edited: 9})
		})
	}
}
