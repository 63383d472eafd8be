package loader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
	"hdqs/loader/sample"
	"hdqs/snapshot/store"
)

// build builds a catalog into a store at a time.
func build(t *testing.T, st *store.Store, files fs.FS, at time.Time) *Report {
	t.Helper()
	opts := Options{Catalog: files, CatalogName: "test", Store: st, SnapshotTime: at}
	opts.AllowEmpty = absentRoles(files)
	report := testkit.Value(Build(t.Context(), opts))(t)
	return report
}

// absentRoles are the roles of which a catalog has no folder: they are meant to be empty.
func absentRoles(files fs.FS) []string {
	return slices.DeleteFunc(Roles(), func(role string) bool {
		_, err := fs.Stat(files, role)
		return err == nil
	})
}

// copyFS reads a catalog into memory, so that a test can change it.
func copyFS(t *testing.T, from fs.FS) fstest.MapFS {
	t.Helper()
	files := testkit.Value(readFS(from))(t)
	return files
}

func readFS(from fs.FS) (fstest.MapFS, error) {
	files := fstest.MapFS{}
	err := fs.WalkDir(from, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, path)
		files[path] = &fstest.MapFile{Data: data}
		return err
	})
	return files, err
}

// smallWorld is a generated catalog with a few rows of each theme, 0.4 MB, for tests that load a
// catalog many times. It has no catalog.json, so that tests may change and rename its files. A test
// may change the map, but not the files in it.
func smallWorld(t *testing.T) fstest.MapFS {
	t.Helper()
	files := testkit.Value(generatedSmall())(t)
	return maps.Clone(files)
}

var generatedSmall = sync.OnceValues(func() (fstest.MapFS, error) {
	dir, err := os.MkdirTemp("", "small-catalog-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if _, err := generator.Write(dir, generator.Options{Seed: 1, Small: true}); err != nil {
		return nil, err
	}
	files, err := readFS(os.DirFS(dir))
	delete(files, "catalog.json")
	return files, err
})

func segmentsOf(r *Report) map[string]string {
	out := map[string]string{}
	for _, s := range r.Tables {
		out[s.Table] = s.SHA256
	}
	return out
}

// TestFileForms loads one catalog in several forms of its files and wants the same bytes of every
// table.
func TestFileForms(t *testing.T) {
	t.Parallel()
	plain := smallWorld(t)
	want := segmentsOf(build(t, openStore(t), plain, someDay))
	compressed := func(ending string, pack func([]byte) []byte) func(string, []byte) (string, []byte) {
		return func(path string, data []byte) (string, []byte) { return path + ending, pack(data) }
	}
	for name, form := range map[string]func(string, []byte) (string, []byte){
		"gzip": compressed(".gz", gzipped),
		"gzip of two members": compressed(".gz", func(b []byte) []byte {
			return append(gzipped(b[:len(b)/2]), gzipped(b[len(b)/2:])...)
		}),
		"zstd": compressed(".zst", zstdded),
		"byte order mark": func(p string, b []byte) (string, []byte) {
			return p,
				append([]byte("\xef\xbb\xbf"), trimBOM(b)...)
		},
		"no final break":  func(p string, b []byte) (string, []byte) { return p, bytes.TrimRight(b, "\r\n") },
		"tags":            func(p string, b []byte) (string, []byte) { return p, withTags(b) },
		"one more column": func(p string, b []byte) (string, []byte) { return p, withColumn(b) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{}
			for path, f := range plain {
				if strings.HasSuffix(path, ".csv") {
					p, data := form(path, f.Data)
					files[p] = &fstest.MapFile{Data: data}
				} else {
					files[path] = f
				}
			}
			report := build(t, openStore(t), files, someDay)
			got := segmentsOf(report)
			if name == "one more column" {
				// A resource with other bytes in its rows has a new form, but both loads have the
				// same time.
				for _, r := range report.Resources {
					if !slices.Contains(r.ExtraColumns, "one more") {
						t.Errorf("%s: extra columns %q", r.Path, r.ExtraColumns)
					}
				}
			}
			for table, sum := range want {
				if got[table] != sum {
					t.Errorf("%s: table %s differs", name, table)
				}
			}
		})
	}
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

func zstdded(data []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(data, nil)
}

func trimBOM(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) }

// withTags adds a row of hashtags below the header, as in older files.
func withTags(data []byte) []byte {
	end := bytes.IndexByte(data, '\n') + 1
	n := bytes.Count(data[:end], []byte(","))
	return slices.Concat(data[:end], []byte("#tag"+strings.Repeat(",#tag+x", n)+"\n"), data[end:])
}

// withColumn adds a first column that no theme reads.
func withColumn(data []byte) []byte {
	r := &csvReader{name: "f", src: bytes.NewReader(trimBOM(data)), buf: make([]byte, csvBuffer), next: 1}
	var out []byte
	for r.split() == nil {
		before := "x,"
		if out == nil {
			before = "one more,"
		}
		out = append(out, before...)
		for i, c := range r.cells {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, '"')
			out = append(out, bytes.ReplaceAll(c, []byte(`"`), []byte(`""`))...)
			out = append(out, '"')
		}
		out = append(out, '\n')
	}
	return out
}

// TestSameInputSameBytes checks that equal loads write equal manifests, however many tables are
// loaded at once.
func TestSameInputSameBytes(t *testing.T) {
	t.Parallel()
	var manifests [][]byte
	for _, parallel := range []int{1, 4, 4} {
		st := openStore(t)
		report, err := Build(t.Context(), Options{
			Catalog: sample.FS, CatalogName: fmt.Sprint("at ",
				parallel), Store: st, SnapshotTime: someDay, Parallel: parallel,
		})
		testkit.Must(t, err)
		manifests = append(manifests, readManifest(t, st, report.Snapshot))
	}
	for _, m := range manifests[1:] {
		if !bytes.Equal(m, manifests[0]) {
			t.Errorf("manifests differ:\n%s\n%s", manifests[0], m)
		}
	}
}

func readManifest(t *testing.T, st *store.Store, id string) []byte {
	t.Helper()
	data := testkit.ReadFile(t, filepath.Join(st.Dir(), "manifests", id+".json"))
	return data
}

const smallTheme = `{ADM},operation,assessment_type,population,reporting_round,{REF}
AFG,Y,Y,,,,,,,0,Op,BA,1,1,2025-01-01,2025-01-01,set,res-1,,
AFG,Y,Y,,,,,,,0,Op,BA,2,2,2025-01-01,2025-01-01,set,res-2,,
`

const smallPackage = `{"id": "set", "name": "stub", "title": "T", "organization": {"name": "o", "title": "O"}, "resources": [
	{"id": "res-1", "name": "one", "format": "CSV", "url": "https://example.com/1", "last_modified": "2025-01-02T03:04:05", "size": 1},
	{"id": "res-2", "name": "two", "format": "CSV", "url": "https://example.com/2", "last_modified": "2025-01-02T03:04:05", "size": 2}]}`

func smallCatalog(t *testing.T) fstest.MapFS {
	t.Helper()
	files := catalogOf(readSections(t, "testdata/catalogs/base.txt"))
	files["idps/a.csv"] = &fstest.MapFile{Data: []byte(shorthand.Replace(smallTheme))}
	files["packages/p.json"] = &fstest.MapFile{Data: []byte(smallPackage)}
	return files
}

func replaced(t *testing.T, files fstest.MapFS, path, old, with string) fstest.MapFS {
	t.Helper()
	out := maps.Clone(files)
	text := string(files[path].Data)
	if !strings.Contains(text, old) {
		t.Fatalf("%s has no %q", path, old)
	}
	out[path] = &fstest.MapFile{Data: []byte(strings.Replace(text, old, with, 1))}
	return out
}

// TestUpdatedDates checks since when a resource has its present form: since the load that first
// read it so. A change of its package or of its rows makes a new form.
func TestUpdatedDates(t *testing.T) {
	t.Parallel()
	const before, after = "2026-11-21T01:02:00", "2026-11-22T01:02:00"
	files := smallCatalog(t)
	for name, c := range map[string]struct {
		files          fstest.MapFS
		first, second  string
		availabilities int
	}{
		"as it was":    {files, before, before, 1},
		"rows changed": {replaced(t, files, "idps/a.csv", "Op,BA,1,1", "Op,BA,9,1"), after, before, 2},
		"modified":     {replaced(t, files, "packages/p.json", "03:04:05", "03:04:06"), after, before, 2},
		"size changed": {replaced(t, files, "packages/p.json", `"size": 2`, `"size": 3`), before, after, 2},
		"row gone": {replaced(t, files, "idps/a.csv",
			"AFG,Y,Y,,,,,,,0,Op,BA,1,1,2025-01-01,2025-01-01,set,res-1,,\n", ""), "", before, 1},
		"only its title":   {replaced(t, files, "packages/p.json", `"title": "T"`, `"title": "U"`), before, before, 1},
		"order of columns": {replaced(t, files, "idps/a.csv", "warning,error", "warning,other"), before, before, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := openStore(t)
			build(t, st, files, someDay)
			report := build(t, st, c.files, someDay.Add(24*time.Hour))
			snap := openBuilt(t, st, report)
			dates := map[string]string{}
			for _, row := range segmentRows(t, snap.Segments["resource"],
				[]string{"resource_catalog_id", "api_updated_date"}) {
				id, date, _ := strings.Cut(row, "|")
				dates[id] = date
			}
			if dates["res-1"] != c.first || dates["res-2"] != c.second {
				t.Errorf("%s: got %v, want %s and %s", name, dates, c.first, c.second)
			}
			if n := snap.Segments["data_availability"].Rows(); n != c.availabilities {
				t.Errorf("%s: %d rows of what there is, want %d", name, n, c.availabilities)
			}
		})
	}
}

// TestCannotBuild checks the faults that fail a load: nothing is published then.
func TestCannotBuild(t *testing.T) {
	t.Parallel()
	noRow := func(path string) func(fstest.MapFS) {
		return func(f fstest.MapFS) { f[path].Data = headerOf(f[path].Data) }
	}
	for name, c := range map[string]struct {
		change func(fstest.MapFS)
		want   string
	}{
		"no units":         {func(f fstest.MapFS) { delete(f, "reference/pcodes.csv") }, "has no reference/pcodes.csv"},
		"units of nothing": {func(f fstest.MapFS) { f["reference/pcodes.csv"] = &fstest.MapFile{} }, "no header row"},
		"no row of units":  {noRow("reference/pcodes.csv"), "reference/pcodes.csv has no row that can be used"},
		"no row of locations": {
			noRow("reference/location.csv"), "reference/location.csv has no row that can be used",
		},
		"nothing": {func(f fstest.MapFS) { clear(f) }, "no file of any known role"},
		"future format": {
			func(f fstest.MapFS) { f["catalog.json"] = &fstest.MapFile{Data: []byte(`{"format": 2}`)} },
			"format 2",
		},
		"catalog.json": {
			func(f fstest.MapFS) { f["catalog.json"] = &fstest.MapFile{Data: []byte(`{`)} },
			"catalog.json: unexpected end",
		},
		"path outside": {func(f fstest.MapFS) {
			f["catalog.json"] = &fstest.MapFile{Data: []byte(`{"resources": [{"role": "idps", "path": "../a.csv"}]}`)}
		}, "does not stay inside"},
		"a dump without a column": {func(f fstest.MapFS) {
			clear(f)
			f["location_view.csv"] = &fstest.MapFile{Data: []byte("id,code\n1,ABC\n")}
		}, "location_view.csv: header lacks name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := smallCatalog(t)
			c.change(files)
			st := openStore(t)
			_, err := Build(t.Context(), Options{Catalog: files, CatalogName: "test", Store: st})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
			if _, err := st.Channels.Channel(defaultChannel); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: channel: %v", name, err)
			}
			_, err = Build(t.Context(), Options{Catalog: files, CatalogName: "test", Store: st, AllowNoPCodes: true})
			if isAllowed := name == "no units" || name == "no row of units"; (err == nil) != isAllowed {
				t.Errorf("%s, which may be: %v", name, err)
			}
		})
	}
}

func TestCanceledBuild(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	st := openStore(t)
	if _, err := Build(ctx, Options{Catalog: sample.FS, Store: st}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if ids, err := st.Snapshots.Manifests(); err != nil || len(ids) != 0 {
		t.Errorf("manifests %v, %v", ids, err)
	}
}

// TestSwitches checks what Options allow and forbid.
func TestSwitches(t *testing.T) {
	t.Parallel()
	files := smallCatalog(t)
	delete(files, "reference/pcodes.csv")
	delete(files, "packages/p.json")
	st := openStore(t)
	var last Progress
	report, err := Build(t.Context(), Options{
		Catalog: files, Store: st, AllowNoPCodes: true, StrictResources: true, Channel: "other",
		CatalogURL: "https://x.example/", Parallel: 1,
		Progress: func(p Progress) { last = p },
	})
	testkit.Must(t, err)
	if report.CatalogURL != "https://x.example" || report.SnapshotTime.Before(time.Now().Add(-time.Minute)) {
		t.Errorf("catalog %s at %v", report.CatalogURL, report.SnapshotTime)
	}
	if got := printReport(report); !slices.Contains(got, "idps unknown_resource 2") {
		t.Errorf("report %q", got)
	}
	if p, err := st.Channels.Channel("other"); err != nil || p.ID != report.Snapshot {
		t.Errorf("channel %v, %v", p, err)
	}
	if last.Done != last.Total || last.Total == 0 {
		t.Errorf("progress ended at %d of %d", last.Done, last.Total)
	}
}

// stalePaths are the paths that a report marks as stale. The manifest of its snapshot must mark the
// same.
func stalePaths(t *testing.T, st *store.Store, r *Report) []string {
	t.Helper()
	m := testkit.Value(st.Snapshots.Manifest(r.Snapshot))(t)
	marked := testkit.Value(StaleIn(m))(t)
	if !sameStale(marked, r.Stale) {
		t.Errorf("the manifest marks %v, the report %v", marked, r.Stale)
	}
	var paths []string
	for _, s := range r.Stale {
		paths = append(paths, s.Path)
	}
	return paths
}

// headerOf is a file without its rows.
func headerOf(b []byte) []byte { return b[:bytes.IndexByte(b, '\n')+1] }
