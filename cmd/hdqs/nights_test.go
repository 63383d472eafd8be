package main_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// TestUsualNights: the edits of usual nights, some rows in a thousand in each, are no large changes
// of headline figures.
func TestUsualNights(t *testing.T) {
	parallel(t)
	nights, store := 3, filepath.Join(t.TempDir(), "store")
	if testkit.Long() {
		nights = 30
	}
	for night := range nights {
		catalog := filepath.Join(t.TempDir(), "catalog")
		o := generator.Options{Seed: 7}
		if night > 0 {
			o.Edited = 150 + night*97%500 // the rows that are edited at a higher number are among those at a lower
		}
		_, err := generator.Write(catalog, o)
		testkit.Must(t, err)
		r := run(t, "build", "--catalog", catalog, "--store", store, "--snapshot-time",
			fmt.Sprintf("2026-11-%02dT00:00:00Z", night+1))
		if r.code != 0 && r.code != 5 {
			t.Fatalf("night %d: exit code %d\n%s", night, r.code, r.stderr)
		}
		if !strings.Contains(r.stdout, ": published") {
			t.Errorf("night %d: nothing is new", night)
		}
		for line := range strings.Lines(r.stderr) {
			if strings.Contains(line, "large change") {
				t.Errorf("night %d: %s", night, line)
			}
		}
	}
}
