//go:build !race

package loader

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"hdqs/internal/generator"
)

// TestHostileCatalog loads a catalog full of faults: each bad row must be dropped and reported by
// file and line, each useless file refused, and the tables must be those of the catalog without
// faults.
func TestHostileCatalog(t *testing.T) {
	t.Parallel()
	hostile, sound := t.TempDir(), t.TempDir()
	faults, err := generator.WriteHostile(hostile, generator.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := generator.Write(sound, generator.Options{Seed: 1}); err != nil {
		t.Fatal(err)
	}
	// The hostile one has no catalog.json, which would name the site.
	load := func(dir string) *Report {
		t.Helper()
		report, err := Build(t.Context(),
			Options{
				Catalog: os.DirFS(dir), Store: openStore(t), SnapshotTime: someDay,
				CatalogURL: "https://example.com",
			})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	report := load(hostile)
	reported := map[string]bool{}
	for _, f := range report.Resources {
		for _, e := range f.Drops {
			for _, example := range e.First {
				reported[strings.Join(strings.SplitN(example, ":", 3)[:2], ":")] = true
			}
		}
	}
	for _, r := range report.Refused {
		reported[r.Path] = true
	}
	rows, files := 0, 0
	for _, fault := range faults {
		at := fault.Path
		if files++; fault.Line > 0 {
			rows, files, at = rows+1, files-1, fmt.Sprintf("%s:%d", fault.Path, fault.Line)
		}
		if !reported[at] {
			t.Errorf("%s: %s: not in the report", at, fault.What)
		}
	}
	if report.Rows.Dropped != rows || len(report.Refused) != files || !report.Partial {
		t.Errorf("%d rows dropped, %d files refused, partial %t; want %d, %d, true", report.Rows.Dropped,
			len(report.Refused), report.Partial, rows, files)
	}
	want := segmentsOf(load(sound))
	for table, sum := range segmentsOf(report) {
		if want[table] != sum {
			t.Errorf("table %s is not that of the sound catalog", table)
		}
	}
}
