//go:build !race

package loader

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"hdqs/internal/testkit"
)

// countingFS counts how often each file is opened.
type countingFS struct {
	fstest.MapFS
	mu    sync.Mutex
	opens map[string]int
}

func (c *countingFS) Open(name string) (fs.File, error) {
	c.mu.Lock()
	c.opens[name]++
	c.mu.Unlock()
	return c.MapFS.Open(name)
}

// TestPlan checks that places are kept with a table that is kept: rows refer to places by numbers,
// which follow from the lists. A kept table without places does not matter. It is decided before
// themes are read, wherever that is possible, and themes are then read once. Only a fault that
// shows while a theme is read makes the load read the themes again.
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
		reads   int // of a theme that has no fault
		stale   []string
		same    string // tables of before
		changed string
	}{
		"nothing kept": {changes{fewer}, nil, 1, nil, "location", "admin1 admin2 idps"},
		"a list gone": {
			changes{fewer, without("reference/market.csv")},
			nil, 1,
			[]string{"admin1", "admin2", "food_price", "market"},
			"admin1 admin2 market food_price rainfall", "",
		},
		"a theme gone": {
			changes{fewer, without(idps)},
			nil, 1,
			[]string{"admin1", "admin2", "idps"},
			"admin1 admin2 idps", "",
		},
		"not fetched": {
			changes{fewer},
			refused("idps", idps), 1,
			[]string{"admin1", "admin2", "idps"},
			"admin2 idps", "",
		},
		"units not fetched": {
			changes{without(units)},
			refused("pcodes", units), 1,
			[]string{"admin1", "admin2"},
			"admin1 admin2 idps", "",
		},
		"locations not fetched": {
			changes{without(locations)}, refused("location", locations), 1, []string{"location"}, "location idps", "",
		},
		"a broken file": {
			changes{fewer, edit(idps, func(b []byte) []byte { return append(bytes.Clone(b), '"', 'x') })},
			nil, 2,
			[]string{"admin1", "admin2", "idps"},
			"location admin1 admin2 idps rainfall", "",
		},
		"a table that shrank": {
			changes{fewer, edit(idps, headerOf)}, nil, 2, []string{"admin1", "admin2", "idps"}, "admin2 idps", "",
		},
		"locations": {
			changes{edit(locations, firstRow), edit(idps, page)},
			nil, 2,
			[]string{"admin1", "admin2", "idps", "location"},
			"location admin1 admin2 idps", "",
		},
		"no places": {
			changes{fewer, edit("reference/currency.csv", page)}, nil, 1, []string{"currency"}, "currency", "admin1",
		},
		"nothing moved": {changes{edit(idps, page)}, nil, 1, []string{"idps"}, "admin1 idps", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := openStore(t)
			first := segmentsOf(build(t, st, whole, someDay))
			files := &countingFS{MapFS: copyFS(t, whole), opens: map[string]int{}}
			shorter(files.MapFS) // a table that is new whatever else is kept
			for _, change := range c.changes {
				change(files.MapFS)
			}
			report, err := Build(t.Context(), Options{
				Catalog: files, CatalogName: "test", Store: st, SnapshotTime: someDay.Add(time.Hour), Fetched: c.fetch,
			})
			testkit.Must(t, err)
			if got := files.opens[funding]; got != c.reads {
				t.Errorf("a theme was read %d times, want %d", got, c.reads)
			}
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
		})
	}
}
