//go:build !race

package loader

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"hdqs/internal/testkit"
	"hdqs/loader/catalogfile"
)

// TestRestoredLists checks that while a list of places cannot be used, everything else is loaded as
// if it could, and that the other list is used as it is now.
func TestRestoredLists(t *testing.T) {
	t.Parallel()
	whole := smallWorld(t)
	const funding = "funding/hdx_hapi_funding_global.csv"
	next := copyFS(t, whole)
	data := bytes.TrimRight(next[funding].Data, "\n")
	next[funding] = &fstest.MapFile{Data: data[:bytes.LastIndexByte(data, '\n')+1]}
	units := next["reference/pcodes.csv"].Data
	want := build(t, openStore(t), next, someDay)
	for name, spoil := range map[string]func(fstest.MapFS){
		"locations": func(f fstest.MapFS) { f["reference/location.csv"] = &fstest.MapFile{Data: []byte("x")} },
		"units":     func(f fstest.MapFS) { f["reference/pcodes.csv"] = &fstest.MapFile{Data: []byte("x")} },
		"both": func(f fstest.MapFS) {
			f["reference/location.csv"] = &fstest.MapFile{Data: []byte("x")}
			f["reference/pcodes.csv"] = &fstest.MapFile{Data: units[:len(units)/3]}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := openStore(t)
			build(t, st, whole, someDay)
			files := copyFS(t, next)
			spoil(files)
			got := build(t, st, files, someDay.Add(time.Hour))
			if !got.Partial || len(got.Refused) == 0 && name != "both" {
				t.Errorf("%s: partial %t, refused %v", name, got.Partial, got.Refused)
			}
			for table, sum := range segmentsOf(want) {
				// Resources and available data have a time of this load.
				if segmentsOf(got)[table] != sum && table != "resource" && table != "data_availability" {
					t.Errorf("%s: table %s is not what the whole list makes it", name, table)
				}
			}
			// Without a last good copy in the channel the load fails, even if another channel has
			// one.
			for _, o := range []Options{{Store: openStore(t)}, {Store: st, Channel: "other"}} {
				o.Catalog, o.CatalogName, o.SnapshotTime = files, "test", someDay.Add(2*time.Hour)
				if _, err := Build(t.Context(), o); name != "both" && (err == nil ||
					!strings.Contains(err.Error(), "header lacks")) {
					t.Errorf("%s: nothing to fall back on: %v", name, err)
				}
			}
			damaged := segmentsOf(got)[map[string]string{
				"locations": "location", "units": "admin2",
				"both": "location",
			}[name]]
			path, err := st.Segments.SegmentPath(damaged)
			testkit.Must(t, err)
			testkit.Must(t, os.Truncate(path, 10))
			_, err = Build(t.Context(),
				Options{Catalog: files, CatalogName: "test", Store: st, SnapshotTime: someDay.Add(2 * time.Hour)})
			if err == nil || !strings.Contains(err.Error(), "the old one cannot be read") {
				t.Errorf("%s: with a damaged snapshot: %v", name, err)
			}
		})
	}
}

// TestFetchedStates checks that files that could not be fetched are marked, and that a role of
// which a file is missing keeps its table.
func TestFetchedStates(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	files := smallWorld(t)
	options := func(at time.Time, sources ...SourceReport) Options {
		return Options{
			Catalog: files, CatalogName: "test", Store: st, SnapshotTime: at, AllowEmpty: absentRoles(files),
			Fetched: &FetchReport{Source: "https://x.example", Kind: "ckan", Sources: sources},
		}
	}
	load := func(o Options) *Report {
		t.Helper()
		r := testkit.Value(Build(t.Context(), o))(t)
		return r
	}
	first := load(options(someDay, SourceReport{Role: "idps", Path: "idps/a.csv", State: SourceNew}))
	if first.Partial || len(first.Stale) > 0 {
		t.Errorf("first: %+v", first.Stale)
	}
	stale := load(options(someDay.Add(time.Hour),
		SourceReport{Role: "funding", Path: "funding/a.csv", State: SourceStale, Why: "status 500"},
		SourceReport{Role: "idps", Path: "idps/a.csv", State: SourceStale, Why: "status 500"}))
	if !stale.Partial || stale.Outcome != "published" || !slices.Equal(stalePaths(t, st, stale),
		[]string{"funding/a.csv", "idps/a.csv"}) {
		t.Errorf("stale: %s, %+v", stale.Outcome, stale.Stale)
	}
	later := load(options(someDay.Add(2*time.Hour),
		SourceReport{Role: "funding", Path: "funding/a.csv", State: SourceStale, Why: "status 500"},
		SourceReport{Role: "idps", Path: "idps/a.csv", State: SourceStale, Why: "another reason"}))
	if later.Outcome != "unchanged" || later.Snapshot != stale.Snapshot || !later.Partial {
		t.Errorf("still stale: %s, %s after %s", later.Outcome, later.Snapshot, stale.Snapshot)
	}
	for path := range files {
		if strings.HasPrefix(path, "conflict-events/") && strings.Contains(path, "2025") {
			delete(files, path)
		}
	}
	refused := load(options(someDay.Add(3*time.Hour),
		SourceReport{
			Role: "conflict-events", Path: "conflict-events/2025.csv", State: SourceRefused,
			Why: "status 404 ```",
		}))
	if !slices.Equal(stalePaths(t, st, refused), []string{"conflict_event"}) ||
		segmentsOf(refused)["conflict_event"] != segmentsOf(first)["conflict_event"] {
		t.Errorf("refused: %+v", refused.Stale)
	}
	var text, markdown bytes.Buffer
	testkit.Must(t, refused.WriteText(&text))
	testkit.Must(t, refused.WriteMarkdown(&markdown))
	for _, want := range []string{"conflict-events/2025.csv", "refused", "status 404", "stale since"} {
		if !strings.Contains(text.String(), want) || !strings.Contains(markdown.String(), want) {
			t.Errorf("%q is not in\n%s\nor not in\n%s", want, text.String()[:500], markdown.String())
		}
	}
	if strings.Count(markdown.String(), "```") != 2 {
		t.Errorf("a text ends the block:\n%s", &markdown)
	}
}

// TestCheckFile checks that files of another form, dialect or encoding are refused, and files with
// a few malformed rows are not.
func TestCheckFile(t *testing.T) {
	t.Parallel()
	header := "code,name\n"
	rows := strings.Repeat("A,b\n", 1000)
	many := []byte("code,name,dataset_hdx_id,resource_hdx_id\n")
	for i := range catalogfile.MaxFiles + 1 {
		many = fmt.Appendf(many, "A,b,dataset-%d,r\n", i)
	}
	for _, c := range []struct{ role, name, data, want string }{
		{"currency", "a.csv", header + rows, ""},
		{"currency", "a.csv", "\ufeff" + strings.ReplaceAll(header+rows, "\n", "\r\n"), ""},
		{"currency", "a.csv", header + rows + strings.Repeat("A\n", 10), ""},
		{
			"currency",
			"a.csv",
			header + rows + strings.Repeat("A\n", 11),
			"11 of 1011 rows are broken, mostly ragged_row, first a.csv:1002",
		},
		{"currency", "a.csv", strings.ReplaceAll(header+rows, ",", ";"), "header lacks code, name"},
		{"currency", "a.csv", string(many), "the rows name"},
		{"currency", "a.csv", header, "a list without rows"},
		{"currency", "a.csv", "", "no header row"},
		{"currency", "a.csv", header + rows + `A,"` + strings.Repeat("x\n", maxRowBytes), "a quote is not closed"},
		{"currency", "a.csv.gz", header, "gzip"},
		{"national-risk", "a.xlsx", "PK", "not a workbook"},
		{"location", "a.csv", header, "header lacks ISO 3166-1"},
		{"pcodes", "a.csv", header, "header lacks Location"},
		{"package", "a.json", "{", ""},
		{"nonsense", "a.csv", "", ""},
	} {
		_, err := CheckFile(t.Context(), fstest.MapFS{c.name: {Data: []byte(c.data)}}, c.role, c.name)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.role, c.name, err, c.want)
		}
	}
}

// TestUnclearFlags loads a list of locations whose flags are written in another style. They never
// become false: the list is that of the last snapshot.
func TestUnclearFlags(t *testing.T) {
	t.Parallel()
	const list = "reference/location.csv"
	whole := smallCatalog(t)
	with := func(old, now string) fstest.MapFS {
		files := copyFS(t, whole)
		data := bytes.ReplaceAll(files[list].Data, []byte(old), []byte(now))
		if bytes.Equal(data, files[list].Data) {
			t.Fatalf("%q is not in the list", old)
		}
		files[list].Data = data
		return files
	}
	for _, style := range []string{"Yes", "y", "TRUE", "1", " Y", "Y ", "n", "0"} {
		t.Run(style, func(t *testing.T) {
			t.Parallel()
			files := with(",Y,", ","+style+",")
			opts := Options{Catalog: files, CatalogName: "test", Store: openStore(t), SnapshotTime: someDay}
			_, err := Build(t.Context(), opts)
			if err == nil || !strings.Contains(err.Error(), list+":2: bad_flag: Has HRP: "+strconv.Quote(style)) {
				t.Errorf("a new store: %v", err)
			}
			st := openStore(t)
			first := segmentsOf(build(t, st, whole, someDay))
			got := build(t, st, files, someDay.Add(time.Hour))
			if paths := stalePaths(t, st, got); !slices.Equal(paths, []string{"location"}) || !got.Partial ||
				!strings.Contains(got.Stale[0].Why, list+":2: bad_flag") {
				t.Errorf("stale %v, partial %t: %+v", paths, got.Partial, got.Stale)
			}
			if segmentsOf(got)["location"] != first["location"] {
				t.Error("the table of locations has changed")
			}
		})
	}
}

// TestExtraColumns checks that the report names a column that nothing reads once for each role.
func TestExtraColumns(t *testing.T) {
	t.Parallel()
	files := smallCatalog(t)
	widen := func(path string) {
		var lines []string
		for i, line := range strings.Split(strings.TrimSpace(string(files[path].Data)), "\n") {
			lines = append(lines, line+[]string{",note", ",x"}[min(i, 1)])
		}
		files[path] = &fstest.MapFile{Data: []byte(strings.Join(lines, "\n") + "\n")}
	}
	files["idps/b.csv"] = files["idps/a.csv"]
	for _, path := range []string{"idps/a.csv", "idps/b.csv", "reference/pcodes.csv"} {
		widen(path)
	}
	var text strings.Builder
	testkit.Must(t, build(t, openStore(t), files, someDay).WriteText(&text))
	for _, want := range []string{
		"columns not read: idps: 1: \"note\"\n", "columns not read: pcodes: 1: \"note\"\n",
	} {
		if n := strings.Count(text.String(), want); n != 1 {
			t.Errorf("the report has %q %d times, want it once:\n%s", want, n, text.String())
		}
	}
}

// TestWithoutPackages checks that a catalog without its packages changes neither a table nor what
// is known of sources, that one without some changes only the lists of them, and that nothing is
// new when they are back.
func TestWithoutPackages(t *testing.T) {
	t.Parallel()
	files, store := smallWorld(t), openStore(t)
	whole := build(t, store, files, someDay)
	was := manifestOf(t, store, whole)
	var noPackages fstest.MapFS
	for i, prefix := range []string{"packages/inform-risk", "packages/cod-ps-a", "packages/"} {
		noPackages = copyFS(t, files)
		isGone := func(path string, _ *fstest.MapFile) bool { return strings.HasPrefix(path, prefix) }
		maps.DeleteFunc(noPackages, isGone)
		at := someDay.Add(time.Duration(i+1) * 24 * time.Hour)
		again := build(t, store, noPackages, at.Add(-time.Hour)).Stale
		kept := build(t, store, noPackages, at)
		is, all := manifestOf(t, store, kept), prefix == "packages/"
		for _, s := range was.Sources {
			if now := is.Source(s.Table); now.Updated != s.Updated || !slices.Equal(now.Datasets, s.Datasets) {
				t.Errorf("without %s: source %v, was %v", prefix, now, s)
			}
		}
		if all != (len(kept.Stale) == 2) || !slices.Equal(again, kept.Stale) || len(was.Datasets) == 0 ||
			!reflect.DeepEqual(is.Datasets, was.Datasets) {
			t.Errorf("without %s: stale %v, datasets %v, want %v", prefix, kept.Stale, is.Datasets, was.Datasets)
		}
		back := build(t, store, files, at.Add(time.Hour))
		for table, sum := range segmentsOf(whole) {
			isList := table == "dataset" || table == "resource"
			if segmentsOf(back)[table] != sum || segmentsOf(kept)[table] != sum && (all || !isList) {
				t.Errorf("without %s: another table %s", prefix, table)
			}
		}
	}
	first := Options{Catalog: noPackages, CatalogName: "test", Store: openStore(t), SnapshotTime: someDay}
	if report, err := Build(t.Context(), first); err != nil || !slices.Contains(report.Empty, catalogfile.PackageRole) {
		t.Errorf("a first load: %v, no rows of %q", err, report.Empty)
	}
}

// TestShrunk checks that a table that would lose more than half of its rows is kept, unless that is
// allowed.
func TestShrunk(t *testing.T) {
	t.Parallel()
	rows := func(n int) fstest.MapFS {
		files := smallCatalog(t)
		lines := strings.SplitAfter(shorthand.Replace(smallTheme), "\n")
		text := lines[0]
		for i := range n {
			text += strings.Replace(lines[1], "Op", "Op"+string(rune('a'+i)), 1)
		}
		files["idps/a.csv"] = &fstest.MapFile{Data: []byte(text)}
		return files
	}
	store := openStore(t)
	build(t, store, rows(10), someDay)
	for _, c := range []struct {
		rows, want    int
		allow, partly bool
	}{{5, 5, false, true}, {2, 5, false, true}, {1, 5, false, true}, {5, 5, false, false}, {1, 1, true, false}, {
		0, 0,
		true, true,
	}, {3, 3, false, false}} {
		report, err := Build(t.Context(),
			Options{
				Catalog: rows(c.rows), Store: store, SnapshotTime: someDay,
				AllowShrink: allowed(c.allow), AllowEmpty: Roles(),
			})
		testkit.Must(t, err)
		snap := openBuilt(t, store, report)
		available := 1
		if c.want == 0 {
			available = 0
		}
		if n, a := snap.Segments["idps"].Rows(), snap.Segments["data_availability"].Rows(); n != c.want ||
			a != available || report.Partial != c.partly {
			t.Errorf("%d rows: %d in the table, %d places, partial %t; want %d, %d, %t", c.rows, n, a, report.Partial,
				c.want, available, c.partly)
		}
		if n := snap.Segments["resource"].Rows(); n != available {
			t.Errorf("%d rows: %d resources", c.rows, n)
		}
	}
}

// TestDamagedCurrent checks that a current snapshot that cannot be read, as a whole or in one
// table, does not stop the load that replaces it.
func TestDamagedCurrent(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	first := build(t, store, smallCatalog(t), someDay)
	path := testkit.Value(store.Segments.SegmentPath(segmentsOf(first)["idps"]))(t)
	testkit.Must(t, os.Remove(path))
	again := build(t, store, smallCatalog(t), someDay)
	sameTables(t, "a table is gone", again, first)
	openBuilt(t, store, again)
	testkit.Must(t, os.WriteFile(store.Dir()+"/manifests/"+first.Snapshot+".json", []byte("{"), 0o644))
	second := build(t, store, smallCatalog(t), someDay.Add(time.Hour))
	if second.Outcome != "published" || len(second.Refused) == 0 || !second.Partial ||
		!strings.Contains(second.Refused[0].Why, "cannot be read, so that no loss of rows can be seen") {
		t.Errorf("%s, refused %v", second.Outcome, second.Refused)
	}
	openBuilt(t, store, second)
}

// allowed are the roles that may shrink: all of them, or none.
func allowed(all bool) []string {
	if all {
		return []string{AllRoles}
	}
	return nil
}
