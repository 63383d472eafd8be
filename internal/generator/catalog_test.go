package generator

import (
	"bytes"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"hdqs/internal/testkit"
)

// sampleOf writes the sample and its views, and returns their directories.
func sampleOf(t *testing.T) (catalog, views string) {
	t.Helper()
	catalog, views = t.TempDir(), t.TempDir()
	kept := testkit.Value(Write(catalog, Options{Seed: 1}))(t)
	shown := testkit.Value(WriteViews(views, Options{Seed: 1}))(t)
	testkit.EqualLists(t, kept, shown, "rows of the catalog, of the views")
	return catalog, views
}

// table is a CSV file, read by the standard library.
type table struct {
	header []string
	rows   [][]string
}

func (f *table) cell(row []string, column string) string {
	i := slices.Index(f.header, column)
	if i < 0 {
		return ""
	}
	return row[i]
}

func readCSV(t *testing.T, path string) *table {
	t.Helper()
	text := testkit.ReadFile(t, path)
	if strings.HasSuffix(path, ".gz") {
		z := testkit.Value(gzip.NewReader(bytes.NewReader(text)))(t)
		text = testkit.Value(io.ReadAll(z))(t)
	}
	all, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if len(all) > 1 && strings.HasPrefix(all[1][0], "#") {
		all = append(all[:1], all[2:]...)
	}
	return &table{all[0], all[1:]}
}

// keyValues reads "name: value" lines of a text file.
func keyValues(t *testing.T, path string) [][2]string {
	t.Helper()
	text := testkit.ReadFile(t, path)
	var all [][2]string
	for _, line := range strings.Split(string(text), "\n") {
		if name, value, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, "#") {
			all = append(all, [2]string{name, value})
		}
	}
	return all
}

func TestEveryValueOccurs(t *testing.T) {
	t.Parallel()
	_, dir := sampleOf(t)
	for _, s := range keyValues(t, "testdata/values.txt") {
		view, column, _ := strings.Cut(s[0], " ")
		f := readCSV(t, filepath.Join(dir, view+"_view.csv"))
		if !slices.Contains(f.header, column) {
			t.Errorf("%s_view has no column %s", view, column)
			continue
		}
		seen := map[string]bool{}
		for _, row := range f.rows {
			seen[f.cell(row, column)] = true
		}
		for _, want := range strings.Split(s[1], "|") {
			if want == "null" || want == `""` {
				want = ""
			}
			if !seen[strings.Trim(want, `"`)] {
				t.Errorf("%s_view: no row has %q in %s", view, want, column)
			}
		}
	}
}

func TestSameOptionsSameBytes(t *testing.T) {
	write := func(o Options, cores int, make func(string, Options) ([]Count, error)) map[string]string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		dir := t.TempDir()
		_, err := make(dir, o)
		testkit.Must(t, err)
		all := map[string]string{}
		err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			name, _ := filepath.Rel(dir, path)
			all[name] = string(text)
			return err
		})
		testkit.Must(t, err)
		return all
	}
	for _, make := range []func(string, Options) ([]Count, error){Write, WriteViews} {
		one := write(Options{Seed: 7, Scale: 0.002, Compress: true}, 1, make)
		two := write(Options{Seed: 7, Scale: 0.002, Compress: true}, 5, make)
		other := write(Options{Seed: 8, Scale: 0.002, Compress: true}, 5, make)
		if len(one) != len(two) {
			t.Fatalf("%d files, then %d", len(one), len(two))
		}
		differing := 0
		for name, text := range one {
			testkit.Equal(t, two[name], text, "%s: the number of cores changes its bytes", name)
			if other[name] != text {
				differing++
			}
		}
		testkit.AtLeast(t, differing, 15, "files of %d that another seed changes", len(one))
	}
}

// TestEditsLeaveRepeatedRows: of rows that are in several places, all have the same values.
func TestEditsLeaveRepeatedRows(t *testing.T) {
	count := func(edited int) (lines map[string]int, repeated int) {
		dir := t.TempDir()
		testkit.Value(Write(dir, Options{Seed: 1, Small: true, Edited: edited}))(t)
		files := testkit.Value(filepath.Glob(filepath.Join(dir, "*", "*.csv")))(t)
		lines = map[string]int{}
		for _, file := range files {
			for line := range strings.Lines(string(testkit.ReadFile(t, file))) {
				line = strings.TrimSpace(line)
				if lines[line]++; lines[line] == 2 && strings.Contains(line, "2016-03") {
					repeated++
				}
			}
		}
		return lines, repeated
	}
	before, repeated := count(0)
	if repeated < 3 {
		t.Fatalf("%d rows are in several places", repeated)
	}
	after, _ := count(1)
	for line, n := range before {
		if n > 1 && after[line] != n {
			t.Errorf("after edits, %d rows of %d are %s", after[line], n, line)
		}
	}
}

func TestFullScale(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("generates twelve million rows")
	}
	w := newWorld(Options{Seed: 1, Scale: 1})
	total := 0
	for _, th := range themes {
		for _, f := range th.filesOf(w) {
			f.rows(func(*row) { total++ })
		}
	}
	if total < 11_500_000 || total > 13_000_000 {
		t.Errorf("%d rows at scale 1, want about twelve million", total)
	}
	for _, c := range []struct {
		name      string
		got, want int
	}{
		{"locations", len(w.locations), 249},
		{"first-level units", len(w.admin1) - 249, 2543},
		{"second-level units", len(w.admin2) - len(w.admin1), 30_687},
		{"organisations", len(w.orgs), 2585},
		{"markets", len(w.markets), 9739},
		{"commodities", len(w.commodities), 1135},
	} {
		if c.got < c.want*95/100 || c.got > c.want*105/100 {
			t.Errorf("%d %s, want about %d", c.got, c.name, c.want)
		}
	}
}
