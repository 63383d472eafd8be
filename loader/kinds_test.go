//go:build !race

package loader

import (
	"context"
	"os"
	"slices"
	"testing"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// TestBothKindsOfCatalogAgree writes one made-up world twice, as files that the loader must join
// and as dumps of the joined views, and wants the same bytes of every table. The generator decides
// which unit a row has before it writes what the file shows of it, so neither kind is derived from
// the other.
func TestBothKindsOfCatalogAgree(t *testing.T) {
	t.Parallel()
	for _, o := range []generator.Options{
		{Seed: 1},
		{Seed: 2, Compress: true, Scale: 0.004},
		{Seed: 1, Small: true},
		{Seed: 3, Roles: []string{"national-risk", "food-prices-market-monitor"}},
	} {
		files, dumps := t.TempDir(), t.TempDir()
		counts, err := generator.Write(files, o)
		testkit.Must(t, err)
		if _, err := generator.WriteViews(dumps, o); err != nil {
			t.Fatal(err)
		}
		joined, countries := tableReports(t, files)
		dumped, dumpedCountries := tableReports(t, dumps)
		if !slices.Equal(countries, dumpedCountries) {
			t.Errorf("seed %d: the countries differ: %q from files, %q from dumps", o.Seed, countries, dumpedCountries)
		}
		if len(joined) != len(tables) || len(dumped) != len(tables) {
			t.Fatalf("seed %d: %d and %d tables, want %d", o.Seed, len(joined), len(dumped), len(tables))
		}
		for name, table := range joined {
			other := dumped[name]
			if table.Rows == 0 && o.Roles == nil {
				t.Errorf("seed %d: table %s is empty", o.Seed, name)
			}
			if table.SHA256 != other.SHA256 && name != "location" { // dumps have no regions
				t.Errorf("seed %d: table %s has %d rows from files and %d from dumps, and the bytes differ", o.Seed,
					name, table.Rows, other.Rows)
			}
		}
		for _, c := range counts {
			table := themes[slices.IndexFunc(themes, func(th *theme) bool { return th.role == c.Role })].table.name
			if joined[table].Rows != c.Kept {
				t.Errorf("seed %d: table %s has %d rows, the generator kept %d", o.Seed, table, joined[table].Rows,
					c.Kept)
			}
		}
	}
}

// tableReports loads a directory and returns the reports of its tables, and the rows of the
// countries without their regions.
func tableReports(t *testing.T, dir string) (byName map[string]TableReport, countries []string) {
	t.Helper()
	st := openStore(t)
	report, err := Build(context.Background(), Options{Catalog: os.DirFS(dir), CatalogName: dir, Store: st})
	testkit.Must(t, err)
	byName = map[string]TableReport{}
	for _, table := range report.Tables {
		byName[table.Table] = table
	}
	var columns []string
	for _, c := range tableNamed("location").columns {
		if c.group != "classes" {
			columns = append(columns, c.name)
		}
	}
	return byName, segmentRows(t, openBuilt(t, st, report).Segments["location"], columns)
}
