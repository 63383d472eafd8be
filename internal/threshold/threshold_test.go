package threshold

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/internal/testkit"
	"hdqs/loader"
	"hdqs/loader/sample"
	"hdqs/snapshot/store"
)

var day = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

const idps = "idps/hdx_hapi_idps_global.csv"

// build loads the sample into a store, with the records of a file changed: change returns false for
// those that are left out.
func build(
	t *testing.T, st *store.Store, at time.Time, file string, change func(cell func(string) *string) bool,
) string {
	t.Helper()
	dir := t.TempDir()
	testkit.Must(t, os.CopyFS(dir, sample.FS))
	testkit.Must(t, os.Remove(filepath.Join(dir, "catalog.json"))) // it has the old sums
	testkit.ChangeCSV(t, filepath.Join(dir, file), change)
	report, err := loader.Build(t.Context(), loader.Options{
		Catalog: os.DirFS(dir), CatalogName: "sample", Store: st, Channel: "next", SnapshotTime: at,
		AllowShrink: []string{loader.AllRoles},
	})
	testkit.Must(t, err)
	return report.Snapshot
}

// TestCompare: a country without rows and a figure that is ten times too high are found, with their
// numbers. Exceptions accept them one by one.
func TestCompare(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.TempDir())
	testkit.Must(t, err)
	all := func(func(string) *string) bool { return true }
	before := build(t, st, day, idps, all)
	bad := build(t, st, day.AddDate(0, 0, 1), idps, func(cell func(string) *string) bool {
		if *cell("location_code") == "ABW" {
			*cell("population") += "0"
		}
		return *cell("location_code") != "AFG"
	})
	open := func(id string) *store.Snapshot {
		snap := testkit.Value(st.Snapshots.Open(id))(t)
		t.Cleanup(func() { testkit.Must(t, snap.Close()) })
		return snap
	}
	from, to := open(before), open(bad)
	texts := func(r Rules, a, b *store.Snapshot) (texts []string) {
		t.Helper()
		found := testkit.Value(Compare(t.Context(), Side{Snapshot: a}, Side{Snapshot: b}, r, day))(t)
		for i := range found {
			texts = append(texts, found[i].String())
		}
		return texts
	}
	missing := "idps, AFG: rows: 35 before, 0 after, more than 50 % apart"
	none := "internally_displaced, AFG: 346972 before, none after, more than 50 % apart"
	ten := "internally_displaced, ABW: 2070 before, 20700 after, more than 50 % apart"
	for exceptions, want := range map[string][]string{
		"":                             {missing, none, ten},
		"idps AFG any":                 {none, ten},
		"idps ABW any":                 {missing, none, ten},
		"* AFG any":                    {ten},
		"* * 899":                      {missing, none, strings.Replace(ten, "50", "899", 1)},
		"* * 900":                      {missing, none},
		"* * 1000000":                  {missing, none},
		"* * any":                      nil,
		"* * any\nidps AFG 50 # later": {missing},
		"* * any until 2026-11-20":     {missing, none, ten},
		"* * any until 2026-11-21":     nil,
	} {
		r := Rules{Most: 50}
		if r.Exceptions, err = ParseExceptions(strings.NewReader(exceptions)); err != nil {
			t.Fatal(err)
		}
		bound := func(text string) string { return text[:strings.Index(text, ", more")] }
		got := texts(r, from, to)
		if !slices.EqualFunc(got, want, func(a, b string) bool { return bound(a) == bound(b) }) {
			t.Errorf("%q: %s\nwant %s", exceptions, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if got := texts(Rules{Most: 50}, from, to); got[2] != ten {
		t.Errorf("%s, want %s", got[2], ten)
	}
	// The other way round, a country is new, which is compared with nothing.
	back := texts(Rules{Most: 50}, to, from)
	if len(back) != 1 || !strings.Contains(back[0], "20700 before, 2070 after") {
		t.Errorf("back: %q", back)
	}
	if got := texts(Rules{Most: 1e-9}, from, from); got != nil {
		t.Errorf("a snapshot and itself: %q", got)
	}
	// A table without a row is named once, not for each of its countries.
	empty := open(build(t, st, day.AddDate(0, 0, 2), idps, func(func(string) *string) bool { return false }))
	count := 0
	for _, text := range texts(Rules{Most: 50}, from, empty) {
		if strings.HasPrefix(text, "idps,") {
			if count++; !strings.HasPrefix(text, "idps, all countries: rows: 590 before, 0 after") {
				t.Error(text)
			}
		}
	}
	testkit.Equal(t, count, 1, "an empty table is named times")
}

// TestChange: half and double are alike, small numbers change by chance, and what crosses zero is
// beyond every bound but "any".
func TestChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n    number
		now  float64
		want float64
	}{
		{number{value: 100}, 200, 100},
		{number{value: 200}, 100, 100},
		{number{value: 100}, 1000, 900},
		{number{value: 100, least: leastRows}, 109, 0},
		{number{value: 3, least: leastRows}, 9, 0},
		{number{value: 3, least: leastRows, rows: true}, 0, gone},
		{number{value: 0, least: leastRows}, 9, 0},
		{number{value: 0, least: leastRows}, 10, gone},
		{number{value: 0}, 0, 0},
		{number{value: -3}, 4, gone},
		{number{value: -4}, -2, 100},
		{number{value: -3, points: true}, 4, 7},
		{number{value: 0, points: true}, 60, 60},
	} {
		if got := c.n.change(number{value: c.now}); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v to %g: %g, want %g", c.n, c.now, got, c.want)
		}
	}
}

// TestParseExceptions: what is not understood is an error with its line, and never ignored.
func TestParseExceptions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"idps SOM":                      "line 1: \"idps SOM\": want NAME COUNTRY BOUND",
		"\n# x\nipds SOM any":           "line 3: no table or headline figure has the name \"ipds\": did you mean ",
		"idps som any":                  "want a code of three capital letters",
		"idps SOM 0%":                   "want a number of per cent above 0",
		"idps SOM NaN":                  "want a number of per cent above 0",
		"idps SOM many":                 "want a number of per cent above 0",
		"idps SOM any until tomorrow":   "want a day such as 2026-12-31",
		"idps SOM any before 2026-12-1": "want NAME COUNTRY BOUND",
		strings.Repeat("x", 2000):       "at most 1000 bytes",
		strings.Repeat("* * any\n", mostExceptions+1): "more than 10000 exceptions",
	} {
		if all, err := ParseExceptions(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50q: %d exceptions, %v; want %s", text, len(all), err, want)
		}
	}
}

func FuzzParseExceptions(f *testing.F) {
	f.Add("idps SOM any until 2026-12-31 # a reason\npeople_in_need * 200%\n")
	f.Add("* * 1e400\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ParseExceptions(strings.NewReader(text))
		for _, e := range all {
			if err != nil || !(e.Most > 0) || e.Name != "" && !slices.Contains(Names(), e.Name) {
				t.Fatalf("%+v, %v", e, err)
			}
		}
	})
}
