package loader

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"hdqs/internal/testkit"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// TestCatalogs loads the small catalogs of testdata/catalogs, one text file each, and compares the
// result with what the file wants.
//
// A file is a list of sections that begin with a line "-- name --". A section named like a file of
// a catalog is that file; {ADM} and {REF} in its first line stand for the columns that most files
// share. Sections named "want ..." are what the load must give:
//
//	-- want TABLE: COLUMN COLUMN ... --   the table's rows in order, cells separated by |
//	-- want report --                     ROLE REASON COUNT of rows not used, oddities, codes
//
// After a line "-- next night --" come files that another load into the same store has instead, and
// what it must give.
//
// Lines that begin with "# " are comments. base.txt has the lists for catalogs without their own;
// "-- no PATH --" leaves one out.
func TestCatalogs(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/catalogs/*.txt")
	if err != nil || len(paths) < 2 {
		t.Fatalf("no catalogs: %v", err)
	}
	base := readSections(t, "testdata/catalogs/base.txt")
	for _, path := range paths {
		if filepath.Base(path) == "base.txt" {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			checkCatalog(t, path, append(slices.Clone(base), readSections(t, path)...))
		})
	}
}

func checkCatalog(t *testing.T, path string, sections []section) {
	st := openStore(t)
	var report *Report
	var snap *store.Snapshot
	load := func(night int, sections []section) {
		var err error
		report, err = Build(t.Context(), Options{
			Catalog: catalogOf(sections), CatalogName: "test", Store: st,
			SnapshotTime: someDay.Add(time.Duration(night) * time.Hour),
		})
		testkit.Must(t, err)
		snap = openBuilt(t, st, report)
	}
	isNext := func(s section) bool { return s.name == "next night" }
	end := slices.IndexFunc(append(sections, section{name: "next night"}), isNext)
	load(0, sections[:end])
	for i, s := range sections {
		what, ok := strings.CutPrefix(s.name, "want ")
		if isNext(s) {
			end = i + 1 + slices.IndexFunc(append(sections[i+1:], s), isNext)
			load(i, sections[:end])
		}
		if !ok {
			continue
		}
		var got []string
		if table, columns, ok := strings.Cut(what, ": "); ok {
			got = segmentRows(t, snap.Segments[table], strings.Fields(columns))
		} else {
			got = printReport(report)
		}
		if g, w := strings.Join(got, "\n"), strings.Join(s.lines, "\n"); g != w {
			t.Errorf("%s:%d: %s: got\n%s\nwant\n%s", path, s.at, what, g, w)
		}
	}
}

// section is a part of a case file.
type section struct {
	name  string
	at    int
	lines []string
}

func readSections(t *testing.T, path string) []section {
	t.Helper()
	data := testkit.ReadFile(t, path)
	var out []section
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		if name, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(line, " --") {
			out = append(out, section{name: strings.TrimSuffix(name, " --"), at: i + 1})
		} else if n := len(out); n > 0 && line != "" && !strings.HasPrefix(line, "# ") {
			out[n-1].lines = append(out[n-1].lines, line)
		}
	}
	return out
}

var shorthand = strings.NewReplacer(
	"{ADM}", "location_code,has_hrp,in_gho,provider_admin1_name,provider_admin2_name,"+
		"admin1_code,admin1_name,admin2_code,admin2_name,admin_level",
	"{REF}", "reference_period_start,reference_period_end,dataset_hdx_id,resource_hdx_id,warning,error",
)

func catalogOf(sections []section) fstest.MapFS {
	files := fstest.MapFS{}
	for _, s := range sections {
		name, left := strings.CutPrefix(s.name, "no ")
		switch {
		case left:
			delete(files, name)
		case !strings.HasPrefix(s.name, "want ") && s.name != "next night":
			lines := slices.Clone(s.lines)
			if len(lines) > 0 {
				lines[0] = shorthand.Replace(lines[0])
			}
			files[name] = &fstest.MapFile{Data: []byte(strings.Join(lines, "\n") + "\n")}
		}
	}
	return files
}

// buildFiles builds a catalog into a new store and opens the snapshot.
func buildFiles(t *testing.T, files fs.FS) (*Report, *store.Snapshot) {
	t.Helper()
	st := openStore(t)
	report, err := Build(t.Context(), Options{Catalog: files, CatalogName: "test", Store: st, SnapshotTime: someDay})
	testkit.Must(t, err)
	return report, openBuilt(t, st, report)
}

func openBuilt(t *testing.T, st *store.Store, report *Report) *store.Snapshot {
	t.Helper()
	snap := testkit.Value(st.Snapshots.Open(report.Snapshot))(t)
	t.Cleanup(func() { snap.Close() })
	return snap
}

// segmentRows prints columns of a table, one row in each line.
func segmentRows(t *testing.T, seg *snapshot.Segment, names []string) []string {
	t.Helper()
	var columns []*snapshot.Column
	for _, name := range names {
		c := testkit.Value(seg.Column(name))(t)
		columns = append(columns, c)
	}
	var out []string
	for row := range uint32(seg.Rows()) {
		var cells []string
		for _, c := range columns {
			cells = append(cells, segmentValue(c, row))
		}
		out = append(out, strings.Join(cells, "|"))
	}
	return out
}

func segmentValue(c *snapshot.Column, row uint32) string {
	i := row
	if c.Group != nil {
		i = uint32(c.Group.Codes.At(row))
	}
	switch {
	case c.IsNull(i):
		return "null"
	case c.Kind == snapshot.Text || c.Kind == snapshot.Enum:
		return c.Text(i)
	case c.Kind == snapshot.Decimal:
		return c.DecString(c.Dec(i))
	case c.Kind == snapshot.Bool:
		return fmt.Sprint(c.Int(i) == 1)
	case c.Kind == snapshot.Time:
		return time.UnixMicro(c.Int(i)).UTC().Format("2006-01-02T15:04:05.999999")
	}
	return fmt.Sprint(c.Int(i))
}

// printReport lists rows that were not used or are odd, by role, and refused files. Odd rows of
// which no line of the load says anything are kept without a word.
func printReport(r *Report) []string {
	var out []string
	said := strings.Join(r.Losses(), "\n")
	for _, f := range r.Resources {
		for reason, e := range f.Drops {
			out = append(out, fmt.Sprintf("%s %s %d", f.Role, reason, e.Count))
		}
		for reason, e := range f.Oddities {
			kept := "kept"
			if !strings.Contains(said, fmt.Sprintf("note: kept: %d × %s, first: %s", e.Count, reason, e.First[0])) {
				kept = "kept without a word"
			}
			out = append(out, fmt.Sprintf("%s %s: %s %d", f.Role, kept, reason, e.Count))
		}
		for _, fault := range f.Faults {
			out = append(out, f.Role+" fault: "+fault)
		}
		if f.Rows.InError > 0 {
			out = append(out, fmt.Sprintf("%s in error %d", f.Role, f.Rows.InError))
		}
	}
	for _, table := range r.Tables {
		if d := table.Duplicates; d.Identical+d.Different > 0 {
			out = append(out, strings.TrimSuffix(fmt.Sprintf("%s doubles: %d identical, %d different: %s", table.Table,
				d.Identical, d.Different, d.Same), ": "))
		}
	}
	for _, f := range r.Refused {
		out = append(out, "refused: "+f.Why)
	}
	for _, f := range r.Fell {
		if f.Column != "" {
			out = append(out, "fewer values: "+f.String())
		}
	}
	out = append(out, r.Odd...)
	slices.Sort(out)
	return out
}
