package loader

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/loader/sample"
	"hdqs/snapshot/store"
)

// fixtureDir has real input files. They are not part of this repository; tests that need them are
// skipped without them.
const fixtureDir = "../../shared/fixtures"

// fixtureCounts are rows read, marked in error and kept, by role, as another program counted them.
var fixtureCounts = map[string]RowCounts{
	"conflict-events":             {Read: 20373, InError: 3, Kept: 20370},
	"operational-presence":        {Read: 4999, InError: 32, Kept: 4967},
	"funding":                     {Read: 136, InError: 1, Kept: 135},
	"national-risk":               {Read: 191, Kept: 191},
	"humanitarian-needs":          {Read: 1942, InError: 18, Kept: 1924},
	"refugees-persons-of-concern": {Read: 13364, InError: 26, Kept: 13338},
	"returnees":                   {Read: 2301, InError: 13, Kept: 2288},
	"idps":                        {Read: 6854, Kept: 6854},
	"food-security":               {Read: 21158, InError: 6105, Kept: 15053},
	"food-prices-market-monitor":  {Read: 21730, Kept: 21730},
	"poverty-rate":                {Read: 3166, Kept: 3166},
	"rainfall":                    {Read: 12675, Kept: 12675},
	"baseline-population":         {Read: 2088, InError: 2, Kept: 2086},
}

var fixtureTables = map[string]int{
	"location": 249, "admin1": 2543, "admin2": 30687, "currency": 127, "org": 722, "org_type": 18, "sector": 19,
	"commodity": 1072, "market": 205, "dataset": 16, "resource": 21,
	"conflict_event": 20370, "operational_presence": 4967, "funding": 135, "national_risk": 191,
	"humanitarian_needs": 1924,
	"refugees":           13338, "returnees": 2288, "idps": 6854, "food_security": 15053, "food_price": 21730,
	"poverty_rate": 3166,
	"rainfall":     12675, "population": 2086,
}

var someDay = time.Date(2026, 11, 21, 1, 2, 0, 0, time.UTC)

func openStore(t testing.TB) *store.Store {
	t.Helper()
	st, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
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
		if err != nil {
			t.Fatal(err)
		}
		r, err := newCSV(path, f, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
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
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
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
