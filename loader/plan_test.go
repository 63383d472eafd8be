//go:build !race

package loader

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// TestPlan checks that places are kept with a table that is kept: rows refer to places by numbers,
// which follow from the lists. A kept table without places does not matter. Nothing is marked any
// more once all files can be used.
func TestPlan(t *testing.T) {
	t.Parallel()
	const funding, idps = "funding/hdx_hapi_funding_global.csv", "idps/hdx_hapi_idps_global.csv"
	const units, locations = "reference/pcodes.csv", "reference/location.csv"
	whole := smallWorld(t)
	edit := func(path string, with func([]byte) []byte) func(fstest.MapFS) {
		return func(f fstest.MapFS) { f[path] = &fstest.MapFile{Data: with(f[path].Data)} }
	}
	without := func(path string) func(fstest.MapFS) { return func(f fstest.MapFS) { delete(f, path) } }
	// firstRow removes the first row of a list, which changes the numbers of all others.
	firstRow := func(b []byte) []byte {
		head := bytes.IndexByte(b, '\n') + 1
		return append(bytes.Clone(b[:head]), b[head+bytes.IndexByte(b[head:], '\n')+1:]...)
	}
	shorter := edit(funding, func(b []byte) []byte {
		b = bytes.TrimRight(b, "\n")
		return b[:bytes.LastIndexByte(b, '\n')+1]
	})
	page := func([]byte) []byte { return []byte("<html>") }
	fewer := edit(units, firstRow)
	refused := func(role, path string) *FetchReport {
		return &FetchReport{Sources: []SourceReport{{Role: role, Path: path, State: SourceRefused, Why: "status 404"}}}
	}
	type changes []func(fstest.MapFS)
	for name, c := range map[string]struct {
		changes changes
		fetch   *FetchReport
		stale   []string
		same    string // tables of before
		changed string
	}{
		"nothing kept": {changes{fewer}, nil, nil, "location", "admin1 admin2 idps"},
		"a list gone": {
			changes{fewer, without("reference/market.csv")},
			nil,
			[]string{"admin1", "admin2", "food_price", "market"},
			"admin1 admin2 market food_price rainfall", "",
		},
		"a theme gone": {
			changes{fewer, without(idps)},
			nil,
			[]string{"admin1", "admin2", "idps"},
			"admin1 admin2 idps", "",
		},
		"not fetched": {
			changes{fewer},
			refused("idps", idps),
			[]string{"admin1", "admin2", "idps"},
			"admin2 idps", "",
		},
		"units not fetched": {
			changes{without(units)},
			refused("pcodes", units),
			[]string{"admin1", "admin2"},
			"admin1 admin2 idps", "",
		},
		"locations not fetched": {
			changes{without(locations)}, refused("location", locations), []string{"location"}, "location idps", "",
		},
		"a broken file": {
			changes{fewer, edit(idps, func(b []byte) []byte { return append(bytes.Clone(b), '"', 'x') })},
			nil,
			[]string{"admin1", "admin2", "idps"},
			"location admin1 admin2 idps rainfall", "",
		},
		"a table that shrank": {
			changes{fewer, edit(idps, headerOf)}, nil, []string{"admin1", "admin2", "idps"}, "admin2 idps", "",
		},
		"locations": {
			changes{edit(locations, firstRow), edit(idps, page)},
			nil,
			[]string{"admin1", "admin2", "idps", "location"},
			"location admin1 admin2 idps", "",
		},
		"no places": {
			changes{fewer, edit("reference/currency.csv", page)}, nil, []string{"currency"}, "currency", "admin1",
		},
		"nothing moved": {changes{edit(idps, page)}, nil, []string{"idps"}, "admin1 idps", ""},
		"a list of a list": {
			changes{edit("reference/org-type.csv", headerOf)},
			nil,
			[]string{"operational_presence", "org", "org_type"},
			"operational_presence org org_type", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := openStore(t)
			first := segmentsOf(build(t, st, whole, someDay))
			files := copyFS(t, whole)
			shorter(files) // a table that is new whatever else is kept
			for _, change := range c.changes {
				change(files)
			}
			report, err := Build(t.Context(), Options{
				Catalog: files, CatalogName: "test", Store: st, SnapshotTime: someDay.Add(time.Hour), Fetched: c.fetch,
			})
			testkit.Must(t, err)
			isNamed := func(s Stale) bool { return strings.Contains(s.Why, "status 404") }
			if paths := stalePaths(t, st, report); !slices.Equal(paths, c.stale) ||
				c.fetch != nil && !slices.ContainsFunc(report.Stale, isNamed) {
				t.Errorf("stale are %v: %+v", paths, report.Stale)
			}
			for table, sum := range segmentsOf(report) {
				same := sum == first[table]
				if slices.Contains(strings.Fields(c.same), table) && !same ||
					slices.Contains(strings.Fields(c.changed+" funding"), table) && same {
					t.Errorf("table %s has its old content: %t", table, same)
				}
			}
			if again := build(t, st, whole, someDay.Add(2*time.Hour)); len(again.Stale) > 0 || again.Partial {
				t.Errorf("the whole catalog: %+v", again.Stale)
			}
		})
	}
}

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
		counts := testkit.Value(generator.Write(files, o))(t)
		testkit.Value(generator.WriteViews(dumps, o))(t)
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
