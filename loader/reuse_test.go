package loader

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"hdqs/internal/testkit"
)

func reusedTables(r *Report) []string {
	var out []string
	for _, t := range r.Tables {
		if t.Reused {
			out = append(out, t.Table)
		}
	}
	slices.Sort(out)
	return out
}

// allThemes are the tables of the themes with data, but for some.
func allThemes(but ...string) []string {
	var out []string
	for _, src := range dataThemes {
		if !slices.Contains(but, src.table.name) {
			out = append(out, src.table.name)
		}
	}
	slices.Sort(out)
	return out
}

// sameTables checks that two reports name the same bytes for every table.
func sameTables(t *testing.T, what string, got, want *Report) {
	t.Helper()
	w := segmentsOf(want)
	for table, sum := range segmentsOf(got) {
		if w[table] != sum {
			t.Errorf("%s: table %s differs", what, table)
		}
	}
	if got.Rows != want.Rows || got.Partial != want.Partial && len(got.Fell) == 0 {
		t.Errorf("%s: rows %+v, partial %t; want %+v, %t", what, got.Rows, got.Partial, want.Rows, want.Partial)
	}
}

// TestReuse loads a changed catalog into a store that has the old one, and into a new store: the
// tables must be the same, and only what changed is read.
func TestReuse(t *testing.T) {
	t.Parallel()
	first := smallWorld(t)
	with := func(path, row string) fstest.MapFS {
		files := copyFS(t, first)
		data := files[path].Data
		if row == "" {
			data = data[:bytes.LastIndexByte(bytes.TrimRight(data, "\n"), '\n')+1]
		} else {
			data = append(bytes.TrimRight(data, "\r\n"), "\n"+row+"\n"...)
		}
		files[path].Data = data
		return files
	}
	renamed := copyFS(t, first)
	for path, f := range renamed {
		if strings.HasPrefix(path, "rainfall/") {
			delete(renamed, path)
			renamed[strings.Replace(path, ".csv", "_b.csv", 1)] = f
		}
	}
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  []string
	}{
		"one file of one role":  {with("funding/hdx_hapi_funding_global.csv", ""), allThemes("funding")},
		"files of another name": {renamed, allThemes("rainfall")},
		"a list":                {with("reference/currency.csv", "ZZZ,New money"), nil},
		"a package":             {with("packages/afg-mpi.json", " "), allThemes()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := openStore(t)
			build(t, store, first, someDay)
			got := build(t, store, c.files, someDay)
			if reused := reusedTables(got); !slices.Equal(reused, c.want) {
				t.Errorf("%s: reused %v, want %v", name, reused, c.want)
			}
			sameTables(t, name, got, build(t, openStore(t), c.files, someDay))
			// The state lists reused tables as well as those that were read. An unchanged snapshot
			// keeps its own state.
			want := allThemes()
			if got.Outcome == "unchanged" {
				want = c.want
			}
			again := build(t, store, c.files, someDay.Add(time.Hour))
			if reused := reusedTables(again); again.Outcome != "unchanged" || again.Snapshot != got.Snapshot ||
				!slices.Equal(reused, want) {
				t.Errorf("%s: again: %s, reused %v, want %v", name, again.Outcome, reused, want)
			}
		})
	}
}

// TestReuseOfDamaged checks that a table that cannot be read any more is made again.
func TestReuseOfDamaged(t *testing.T) {
	t.Parallel()
	store, files := openStore(t), smallWorld(t)
	first := build(t, store, files, someDay)
	path, err := store.Segments.SegmentPath(segmentsOf(first)["idps"])
	testkit.Must(t, err)
	testkit.Must(t, os.Remove(path))
	second := build(t, store, files, someDay)
	if reused := reusedTables(second); !slices.Equal(reused, allThemes("idps")) {
		t.Errorf("reused %v", reused)
	}
	sameTables(t, "damaged", second, first)
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
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

// TestDamagedCurrent checks that a current snapshot that cannot be read does not stop the load that
// replaces it.
func TestDamagedCurrent(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	first := build(t, store, smallCatalog(t), someDay)
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
