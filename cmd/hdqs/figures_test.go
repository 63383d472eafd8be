package main_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"hdqs/api/contract"
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
