package main_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"hdqs/api/contract"
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
	"funding_asked": {"": "3", "AFG": "3059587797"},
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

// TestFiguresOfFixtures compares the headline figures of the real input with figures that people
// have looked up.
func TestFiguresOfFixtures(t *testing.T) {
	parallel(t)
	s := serve(t, "--store", fixtureStore(t))
	values := figuresOf(t, s, "")
	for name, want := range decode[map[string]map[string]string](t, []byte(figuresOfFixtures)) {
		known, total := 0, 0.0
		for code, value := range values[name] {
			if value == "" {
				continue
			}
			number, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Errorf("%s of %s: %v", name, code, err)
			}
			known, total = known+1, total+number
		}
		if want[""] != strconv.Itoa(known) {
			t.Errorf("%s has a value in %d countries, want %s", name, known, want[""])
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
	if value, has := figuresOf(t, s, "?end_date=2016-12-31")["internally_displaced"]["HTI"]; value != "" || !has {
		t.Errorf("displaced people of HTI at the end of 2016: %q, want none, of two rounds", value)
	}
}
