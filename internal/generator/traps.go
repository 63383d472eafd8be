package generator

import (
	_ "embed"
	"slices"
	"strings"
)

// orphanCode is the second-level unit that keeps its place below a placeholder although its parent
// is not listed.
const orphanCode = "SS0001"

var trapsValid = date(2021, 11, 17)

//go:embed traps.txt
var trapsText string

// trapCodes are the lines of traps.txt by country.
var trapCodes = func() map[string][]codeLine {
	all := map[string][]codeLine{}
	for line := range strings.Lines(trapsText) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), "|"); len(f) == 5 {
			all[f[0]] = append(all[f[0]], codeLine{f[0], int(f[1][0] - '0'), f[2], f[3], f[4], trapsValid})
		}
	}
	return all
}()

// showTraps makes the places whose unit a CSV hides, shifts or loses.
func (w *world) showTraps() []*place {
	unspecified := func(iso3 string) *admin2 { return w.byCode[iso3].unspecified }
	unit1 := func(code string) *admin1 {
		return w.admin1[slices.IndexFunc(w.admin1, func(u *admin1) bool { return u.code == code })]
	}
	afghanistan := w.byCode["AFG"].units2[0]
	ethiopia, other := w.byCode["ETH"].units2[0], w.byCode["ETH"].units1[1]
	mali := w.byCode["MLI"].units2[0].parent
	traps := []*place{ // country, names as sent, matched codes and names, level, wrong flags, unit
		// stale codes: the row falls back to its country and keeps its names
		{"TCD", "Batha Nord", "Yalé", "TCD01", "Batha", "TCD0101", "Yale", "2", false, unspecified("TCD")},
		{"TCD", "Batha Sud", "", "TCD02", "Batha", "", "", "1", false, unspecified("TCD")},
		{
			"MLI", mali.name, "Old Quarter", mali.code, mali.name, "ML999999", "Old Quarter", "2", false,
			unspecified("MLI"),
		},
		// names without codes
		{"UKR", "Sea of Glass", "", "", "", "", "", "2", false, unspecified("UKR")},
		{"SDN", "Región X", "Ville, “Y”", "", "", "", "", "2", false, unspecified("SDN")},
		{"SDN", "", "nobody's land", "", "", "", "", "2", false, unspecified("SDN")},
		{"NER", "", "", "", "Only In The List", "", "", "1", false, unspecified("NER")},
		{"MLI", "Kayes-like", "camp nº 4", mali.code, mali.name, "", "", "2", false, mali.connector},
		{"MLI", "Kayes-like", " ", mali.code, mali.name, "", "", "2", false, mali.connector},
		// a code without a name does not count
		{"AFG", "", "", "", "", afghanistan.code, "", "2", false, unspecified("AFG")},
		{
			"AFG", "Somewhere", "", afghanistan.parent.code, "", afghanistan.code, "", "1", false,
			afghanistan.parent.connector,
		},
		// a second-level code is enough; the row belongs to the first-level unit of its unit
		{"AFG", "", "No first level", "", "", afghanistan.code, "", "2", false, afghanistan},
		{"ETH", "Across", "the border", other.code, other.name, ethiopia.code, ethiopia.name, "2", false, ethiopia},
		// one code at two levels
		{"HTI", "Ile Longue", "", "HT99", "Île Longue", "", "", "1", false, unit1("HT99").connector},
		{"ECU", "Mar", "", "ECMAR", "Mar Afuera", "", "", "1", false, unit1("ECMAR").connector},
		{"ECU", "Mar", "Mar", "ECMAR", "Mar Afuera", "ECMAR", "Mar Afuera", "2", false, unspecified("ECU")},
		// flags that contradict the country's
		{"CAN", "", "", "", "", "", "", "0", true, unspecified("CAN")},
		{"CMR", "", "", "", "", "", "", "0", true, unspecified("CMR")},
	}
	for _, code := range []string{
		"HT99", orphanCode, "YE9801", "MM9801", "MM9802", "MZ9801", "CO9801", "UA9801",
		"SO9801", "SO9802",
	} {
		u := w.admin2[slices.IndexFunc(w.admin2, func(u *admin2) bool { return u.code == code })]
		traps = append(traps, &place{
			iso3: u.parent.location.iso3, pa1: "as sent 1 ", pa2: "as sent 2, \"" + code + "\"", level: "2",
			code1: u.parent.code, name1: u.parent.name, code2: u.code, name2: u.name, unit: u,
		})
	}
	for _, code := range []string{"YE98", "MM98", "MZ98", "CO98", "UA98", "SO98"} {
		u := unit1(code)
		traps = append(traps, &place{
			iso3: u.location.iso3, pa1: u.name, level: "1", code1: u.code, name1: u.name, unit: u.connector,
		})
	}
	return traps
}
