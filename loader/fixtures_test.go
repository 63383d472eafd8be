package loader

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/internal/testkit"
	"hdqs/loader/sample"
	"hdqs/snapshot/store"
)

// fixtureDir has real input files. They are not part of this repository; tests that need them are
// skipped without them.
const fixtureDir = "../../shared/fixtures"

var someDay = time.Date(2026, 11, 21, 1, 2, 0, 0, time.UTC)

func openStore(t testing.TB) *store.Store {
	t.Helper()
	st, err := store.Open(t.TempDir())
	testkit.Must(t, err)
	return st
}

func fixtureCatalog(t testing.TB) string {
	t.Helper()
	dir := fixtureDir + "/catalog"
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("real input files are not here: %v", err)
	}
	return dir
}

// TestFixtureTagRows reads real files of the older form and checks that their rows of hashtags are
// not data.
func TestFixtureTagRows(t *testing.T) {
	t.Parallel()
	fixtureCatalog(t)
	paths, err := filepath.Glob(fixtureDir + "/hxl/*.csv")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, path := range paths {
		f, err := os.Open(path)
		testkit.Must(t, err)
		r, err := newCSV(path, f, nil, nil)
		testkit.Must(t, err)
		rows := 0
		for err = r.read(); err == nil; err = r.read() {
			rows++
			if isTagRow(r.cells) {
				t.Errorf("%s:%d: a row of tags: %s", path, r.line, r.raw)
			}
		}
		if err != io.EOF || rows == 0 {
			t.Errorf("%s: %d rows, then %v", path, rows, err)
		}
		f.Close()
	}
}

// BenchmarkBuild loads the sample, which has few rows: it measures mostly the cost of each table.
func BenchmarkBuild(b *testing.B) {
	b.ReportAllocs()
	rows := 0
	for b.Loop() {
		report, err := Build(b.Context(), Options{Catalog: sample.FS, Store: openStore(b), SnapshotTime: someDay})
		if err != nil || report.Rows.Kept == 0 {
			b.Fatalf("%v, %v", report, err)
		}
		rows = report.Rows.Read
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// textCase is one line of a case file.
type textCase struct {
	t    *testing.T
	at   string // file:line
	line string
}

// cut splits a line at a mark that it must have.
func (c textCase) cut(mark string) (before, after string) {
	c.t.Helper()
	before, after, ok := strings.Cut(c.line, mark)
	if !ok {
		c.t.Fatalf("%s: no %q in %q", c.at, mark, c.line)
	}
	return before, after
}

// readCases reads a case file: one case in each line, # begins a comment, empty lines are skipped.
func readCases(t *testing.T, path string) []textCase {
	t.Helper()
	data := testkit.ReadFile(t, path)
	var cases []textCase
	for i, line := range strings.Split(string(data), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			cases = append(cases, textCase{t, path + ":" + strconv.Itoa(i+1), line})
		}
	}
	if len(cases) == 0 {
		t.Fatalf("%s: no cases", path)
	}
	return cases
}
