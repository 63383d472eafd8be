package main_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// figuresOf are the values of all headline figures that a server has, by name and country; "" is a
// country without a value. TestClientsPages has a separate program recompute them.
func figuresOf(t *testing.T, s *server, query string) map[string]map[string]string {
	t.Helper()
	values := map[string]map[string]string{}
	for _, h := range contract.Headlines {
		values[h.Name] = map[string]string{}
		for _, r := range jsonRows(t, ask(t, "GET", s.base+with(contract.FiguresPath+"/"+h.Name+query)).body) {
			value, _ := r["value"].(json.Number)
			values[h.Name][r["location_code"].(string)] = value.String()
		}
	}
	return values
}

// TestFiguresOfFixtures compares the headline figures of the real input with figures that people
// have looked up.
func TestFiguresOfFixtures(t *testing.T) {
	parallel(t)
	s := serve(t, "--store", fixtureStore(t))
	values := figuresOf(t, s, "")
	for _, c := range testkit.Cases(t, "testdata/figures.txt", ": ", 2) {
		got, known, sum := values[c[0]], 0, 0.0
		for code, value := range got {
			if value == "" {
				continue
			}
			number, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Errorf("%s of %s: %v", c[0], code, err)
			}
			known, sum = known+1, sum+number
		}
		got["countries"], got["sum"] = strconv.Itoa(known), strconv.FormatFloat(sum, 'f', -1, 64)
		for pair := range strings.FieldsSeq(c[1]) {
			if code, want, _ := strings.Cut(pair, "="); got[code] != want {
				t.Errorf("%s of %s is %q, want %s", c[0], code, got[code], want)
			}
		}
	}
	if value, has := figuresOf(t, s, "?end_date=2016-12-31")["internally_displaced"]["HTI"]; value != "" || !has {
		t.Errorf("displaced people of HTI at the end of 2016: %q, want none, of two rounds", value)
	}
}

// TestRightSums asks the real input for sums that are right: the checks of wrong sums let all of
// them pass, and none is empty.
func TestRightSums(t *testing.T) {
	parallel(t)
	s := serve(t, "--store", fixtureStore(t))
	sums := testkit.Cases(t, "testdata/right_sums.txt", "?", 2)
	for _, c := range sums {
		a := ask(t, "GET", s.base+with("/api/v2/"+c[0]+"?"+c[1]))
		if a.status != 200 || len(decode[struct{ Data []any }](t, a.body).Data) == 0 {
			t.Errorf("%s: %d %.500s", c, a.status, a.body)
		}
	}
	if len(sums) < 60 {
		t.Errorf("%d sums, want at least 60", len(sums))
	}
}

// TestSampleFigures checks the headline figures of the embedded sample, which people see first, by
// the rules of a file. Those of nine countries in ten are of the last four years.
func TestSampleFigures(t *testing.T) {
	parallel(t)
	s := serve(t)
	values := map[string]map[string]float64{}
	for _, h := range contract.Headlines {
		of, old := map[string]float64{}, 0
		for _, r := range s.records(t, "figures/"+h.Name) {
			if value, is := r["value"].(float64); is {
				of[r["location_code"].(string)] = value
				if end, ends := r["period_end"].(string); ends && end < "2022" {
					old++
				}
			}
		}
		if values[h.Name] = of; len(of) < 8 || old > len(of)/10 {
			t.Errorf("%s is known of %d countries, of which %d are older than 2022", h.Name, len(of), old)
		}
	}
	holds := map[string]func(a, b float64) bool{
		"<":  func(a, b float64) bool { return a < b },
		"<=": func(a, b float64) bool { return a <= b },
		">":  func(a, b float64) bool { return a > b },
	}
	for _, c := range testkit.Cases(t, "testdata/sample_figures.txt", "\n", 1) {
		f := strings.Fields(c[0])
		figure, other := values[f[0]], values[f[2]]
		number, err := strconv.ParseFloat(f[2], 64)
		if figure == nil || other == nil && err != nil || holds[f[1]] == nil {
			t.Fatalf("%q is no rule", c)
		}
		var compared int
		var broken []string
		for country, value := range figure {
			bound, known := other[country]
			if other == nil {
				bound, known = number, true
			}
			if !known {
				continue
			}
			if compared++; !holds[f[1]](value, bound) {
				broken = append(broken, country)
			}
		}
		share := 100
		if len(f) == 5 {
			share = testkit.Value(strconv.Atoi(f[4]))(t)
		}
		if compared < 8 || 100*(compared-len(broken)) < share*compared {
			t.Errorf("%s: compared in %d countries, not so in %q", c[0], compared, broken)
		}
	}
}

// fixtureRows are the rows of every table of a snapshot of the real input. A separate program has
// counted them, but for data_availability, which is derived.
var fixtureRows = map[string]int{
	"location": 249, "admin1": 2543, "admin2": 30687, "currency": 127, "org": 722, "org_type": 18, "sector": 19,
	"commodity": 1072,
	"market":    205, "dataset": 16, "resource": 21, "data_availability": 7865,
	"conflict_event": 20370, "operational_presence": 4967, "funding": 135, "national_risk": 191, "refugees": 13338,
	"returnees":          2288,
	"humanitarian_needs": 1924, "idps": 6854, "food_security": 15053, "food_price": 21730, "poverty_rate": 3166,
	"rainfall":   12675,
	"population": 2086,
}

// fixtureRead are the rows of each theme's files, with those that are marked as errors.
var fixtureRead = map[string]int{
	"conflict-events": 20373, "operational-presence": 4999, "funding": 136, "national-risk": 191,
	"humanitarian-needs":          1942,
	"refugees-persons-of-concern": 13364, "returnees": 2301, "idps": 6854, "food-security": 21158,
	"food-prices-market-monitor": 21730,
	"poverty-rate":               3166, "rainfall": 12675, "baseline-population": 2088,
}

// TestFixtures builds all of the real input: no row may be dropped, no file refused, and every
// endpoint has all rows. The judge compares what answers have of them.
func TestFixtures(t *testing.T) {
	parallel(t)
	fixtures := testkit.Fixtures(t)
	store := filepath.Join(t.TempDir(), "store")
	o := mustExit(t, 0, "build", "--catalog", filepath.Join(fixtures, "catalog"), "--store", store,
		"--snapshot-time", buildTime, "--json")
	printed := decode[report](t, []byte(o.stdout))
	if printed.Partial || len(printed.Refused) != 0 || printed.Rows.Dropped != 0 {
		t.Errorf("partial %t, refused %v, %d rows dropped; want a complete load",
			printed.Partial, printed.Refused, printed.Rows.Dropped)
	}
	read := map[string]int{}
	for _, r := range printed.Resources {
		read[r.Role] += r.Rows.Read
	}
	for role, want := range fixtureRead {
		if read[role] != want {
			t.Errorf("%s: %d rows read, want %d", role, read[role], want)
		}
	}
	checkKeys(t, store)
	_, rows := inspect(t, store)
	if !maps.Equal(rows, fixtureRows) {
		t.Errorf("tables have the rows\n%v, want\n%v", rows, fixtureRows)
	}
	mustExit(t, 0, "verify", "--store", store)
	s := serve(t, "--store", store)
	for _, e := range contract.Endpoints {
		if total := totalOf(t, s, e.Path+"?limit=0"); total != fixtureRows[e.Table] {
			t.Errorf("%s: X-Total-Count %d, want %d", e.Path, total, fixtureRows[e.Table])
		}
	}
	s.testDistinct(t)
}

// testDistinct looks for equal lines in the CSV of operational presence. Some records differ only
// by the provider's names of their units, which are in the CSV of HAPI names.
func (s *server) testDistinct(t *testing.T) {
	t.Helper()
	const path = "/api/v2/coordination-context/operational-presence?output_format=csv"
	for prefix, want := range map[string]int{"": 29, "/hapi": 0} {
		lines := strings.Split(string(ask(t, "GET", s.base+with(prefix+path)).body), "\r\n")
		all := len(lines)
		slices.Sort(lines)
		if equal := all - len(slices.Compact(lines)); equal != want {
			t.Errorf("%s: %d lines equal another one, want %d", prefix, equal, want)
		}
	}
}

// TestUsualNights: the edits of usual nights, some rows in a thousand in each, are no large changes
// of headline figures.
func TestUsualNights(t *testing.T) {
	parallel(t)
	nights, store := 3, filepath.Join(t.TempDir(), "store")
	if testkit.Long() {
		nights = 30
	}
	for night := range nights {
		catalog := filepath.Join(t.TempDir(), "catalog")
		o := generator.Options{Seed: 7}
		if night > 0 {
			o.Edited = 150 + night*97%500 // the rows that are edited at a higher number are among those at a lower
		}
		testkit.Value(generator.Write(catalog, o))(t)
		r := runWith(t, nil, "", "build", "--catalog", catalog, "--store", store, "--snapshot-time",
			fmt.Sprintf("2026-11-%02dT00:00:00Z", night+1))
		if r.code != 0 && r.code != 5 {
			t.Fatalf("night %d: exit code %d\n%s", night, r.code, r.stderr)
		}
		if !strings.Contains(r.stdout, ": published") {
			t.Errorf("night %d: nothing is new", night)
		}
		for line := range strings.Lines(r.stderr) {
			if strings.Contains(line, "large change") {
				t.Errorf("night %d: %s", night, line)
			}
		}
	}
}
