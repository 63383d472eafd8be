package loader

import (
	"os"
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
	st := testkit.Value(store.Open(t.TempDir()))(t)
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
