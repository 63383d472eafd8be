package main_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// compareFigures has a separate program compute every headline figure of every country from the
// CSV of whole lists, and send every request that a record names. It returns the values by figure
// and country.
func compareFigures(t *testing.T, store string, endDate ...string) map[string]map[string]string {
	t.Helper()
	s := serve(t, "--store", store)
	python := testkit.Program(t, "python3", "python3")
	args := append([]string{filepath.Join("testdata", "clients", "figures.py"), s.base}, endDate...)
	output, err := exec.Command(python, args...).CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	if err != nil {
		t.Fatalf("figures.py: %v\n%.4000s", err, output)
	}
	t.Log(lines[len(lines)-2])
	return decode[map[string]map[string]string](t, []byte(lines[len(lines)-1]))
}

var realFigures struct {
	sync.Mutex
	values map[string]map[string]string
}

// figuresOfReal are the values of the real input, which are compared once for all tests.
func figuresOfReal(t *testing.T, store string) map[string]map[string]string {
	t.Helper()
	realFigures.Lock()
	defer realFigures.Unlock()
	if realFigures.values == nil {
		realFigures.values = compareFigures(t, store)
	}
	return realFigures.values
}

// TestFigures compares the headline figures of two generated catalogs with those of a separate
// program: of one now and of the other at the end of a year, in the long form of both at both. Most
// of them must have a value somewhere, or the comparison shows nothing.
func TestFigures(t *testing.T) {
	parallel(t)
	known := map[string]bool{}
	for i, o := range []generator.Options{{Seed: 1}, {Seed: 2, Scale: 0.01}} {
		store := newStoreOf(t, o)
		for k, endDate := range [][]string{nil, {"2024-12-31"}} {
			if i != k && !testkit.Long() {
				continue
			}
			for name, of := range compareFigures(t, store, endDate...) {
				for _, value := range of {
					if value != "" {
						known[name] = true
					}
				}
			}
		}
	}
	if len(known) < 20 {
		t.Errorf("only these figures have a value anywhere: %v", known)
	}
}

// figuresOfFixtures are figures of the real input that people have looked up: how many countries
// have a value, and some values.
const figuresOfFixtures = `{
	"people_in_need": {"": "2", "AFG": "23666389", "SDN": "24786370"},
	"people_targeted": {"": "2", "AFG": "17327995", "SDN": "14657114"},
	"people_reached": {"": "2", "AFG": "18400000", "SDN": "14000000"},
	"internally_displaced": {"": "3", "AFG": "131", "HTI": "198", "TCD": "7862"},
	"refugees_by_asylum": {"": "3", "PAK": "1419590", "IRN": "979435"},
	"refugees_by_origin": {"": "23", "AFG": "2370226", "TUR": "6"},
	"returned_refugees": {"": "27", "SSD": "527206"},
	"returned_idps": {"": "16", "COD": "1833092", "UKR": "1318680"},
	"people_in_phase_3_or_worse": {"": "4", "AFG": "17213584", "AGO": "1315532", "CAF": "2388086", "ETH": "16756345"},
	"political_violence_events": {"": "242", "SDN": "49", "UKR": "16", "FRA": "0"},
	"political_violence_fatalities": {"": "242", "SDN": "26", "UKR": "29", "FRA": "0"},
	"demonstration_events": {"": "242"},
	"civilian_targeting_events": {"": "242"},
	"funding_asked": {"": "3", "AFG": "3059587797.0"},
	"funding_received": {"": "3"},
	"funding_received_all": {"": "3"},
	"funding_percent": {"": "3"},
	"overall_risk": {"": "191", "AFG": "8.1", "SOM": "8.5", "SDN": "7.3"},
	"poverty_headcount": {"": "112", "AFG": "52.1779", "SDN": "52.328", "TCD": "87.1166"},
	"population": {"": "3", "COD": "103199358", "VCT": "103938", "CAF": "4953014"},
	"rainfall_percent_of_normal": {"": "1", "MOZ": "90.777"},
	"price_change_in_a_year": {"": "0"},
	"organisations_present": {"": "4", "COD": "238", "ETH": "100", "SOM": "203", "TCD": "205"}
}`

// totalsOfFixtures are sums over all countries.
var totalsOfFixtures = map[string]float64{
	"political_violence_events": 1146, "political_violence_fatalities": 979, "demonstration_events": 1121,
	"funding_asked": 7101895113, "funding_received": 1235081958, "funding_received_all": 1379019584,
}

// TestFiguresOfFixtures compares the headline figures of the real input with those of a separate
// program, and with figures that people have looked up.
func TestFiguresOfFixtures(t *testing.T) {
	parallel(t)
	store := fixtureStore(t)
	values := figuresOfReal(t, store)
	for name, want := range decode[map[string]map[string]string](t, []byte(figuresOfFixtures)) {
		known, total := 0, 0.0
		for code, value := range values[name] {
			if value == "" {
				continue
			}
			known++
			var number float64
			if err := json.Unmarshal([]byte(value), &number); err != nil {
				t.Errorf("%s of %s: %v", name, code, err)
			}
			total += number
		}
		if got := decode[int](t, []byte(want[""])); known != got {
			t.Errorf("%s has a value in %d countries, want %d", name, known, got)
		}
		for code, value := range want {
			if got := values[name][code]; code != "" && got != value {
				t.Errorf("%s of %s is %q, want %s", name, code, got, value)
			}
		}
		if want, has := totalsOfFixtures[name]; has && total != want {
			t.Errorf("%s of all countries is %f, want %f", name, total, want)
		}
	}
	earlier := compareFigures(t, store, "2016-12-31")
	if value, has := earlier["internally_displaced"]["HTI"]; value != "" || !has {
		t.Errorf("displaced people of HTI at the end of 2016: %q, want none, of two rounds", value)
	}
}
