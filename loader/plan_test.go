//go:build !race

package loader

import (
	"bytes"
	"io/fs"
	"sync"
	"testing"
	"testing/fstest"
	"time"
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

// TestPlan checks that the lists of places are decided before themes are read, wherever that is
// possible: themes are then read once. Only a fault that shows while a theme is read makes the load
// read the themes again.
func TestPlan(t *testing.T) {
	t.Parallel()
	const funding, idps, units = "funding/hdx_hapi_funding_global.csv", "idps/hdx_hapi_idps_global.csv",
		"reference/pcodes.csv"
	whole := smallWorld(t)
	fewerUnits := func(f fstest.MapFS) {
		data := f[units].Data
		head := bytes.IndexByte(data, '\n') + 1
		next := head + bytes.IndexByte(data[head:], '\n') + 1
		f[units] = &fstest.MapFile{Data: append(bytes.Clone(data[:head]), data[next:]...)}
	}
	refused := SourceReport{Role: "idps", Path: idps, State: SourceRefused, Why: "status 404"}
	for name, c := range map[string]struct {
		change func(fstest.MapFS)
		fetch  *FetchReport
		reads  int // of a theme that has no fault
		keeps  bool
	}{
		"nothing kept": {func(fstest.MapFS) {}, nil, 1, false},
		"a list gone":  {func(f fstest.MapFS) { delete(f, "reference/market.csv") }, nil, 1, true},
		"a theme gone": {func(f fstest.MapFS) { delete(f, idps) }, nil, 1, true},
		"not fetched":  {func(fstest.MapFS) {}, &FetchReport{Sources: []SourceReport{refused}}, 1, true},
		"a broken file": {
			func(f fstest.MapFS) {
				f[idps] = &fstest.MapFile{Data: append(bytes.Clone(f[idps].Data), '"',
					'x')}
			}, nil, 2, true,
		},
		"a table that shrank": {
			func(f fstest.MapFS) { f[idps] = &fstest.MapFile{Data: headerOf(f[idps].Data)} }, nil,
			2, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := openStore(t)
			first := segmentsOf(build(t, st, whole, someDay))
			files := &countingFS{MapFS: copyFS(t, whole), opens: map[string]int{}}
			fewerUnits(files.MapFS)
			c.change(files.MapFS)
			report, err := Build(t.Context(), Options{
				Catalog: files, CatalogName: "test", Store: st, SnapshotTime: someDay.Add(time.Hour), Fetched: c.fetch,
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := files.opens[funding]; got != c.reads {
				t.Errorf("a theme was read %d times, want %d", got, c.reads)
			}
			if kept := segmentsOf(report)["admin2"] == first["admin2"]; kept != c.keeps {
				t.Errorf("the previous places are used: %t, want %t", kept, c.keeps)
			}
		})
	}
}
