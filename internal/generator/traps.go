package generator

import "strings"

// orphanCode is the second-level unit that keeps its place below a placeholder although its parent
// is not listed.
const orphanCode = "SS0001"

var trapsValid = date(2021, 11, 17)

// trapCodes are lines of the list of p-codes, appended to the units of a country.
var trapCodes = map[string][]codeLine{
	"ECU": { // one code at two levels; second-level units directly below the country are skipped
		{"ECU", 1, "ECMAR", "Mar Afuera", "ECU", trapsValid},
		{"ECU", 2, "ECMAR", "Mar Afuera", "ECU", trapsValid},
		{"ECU", 2, "ECZONA", "Zona por Aclarar: Lomas (Norte-Sur)", "ECU", trapsValid},
	},
	"HTI": { // one code at two levels, both valid
		{"HTI", 1, "HT99", "Île Longue", "HTI", trapsValid},
		{"HTI", 2, "HT99", "Île Longue-Sud", "HT99", trapsValid},
	},
	"SSD": {{"SSD", 2, orphanCode, "Orphan Reach", "SS00", trapsValid}},
	"YEM": {
		{"YEM", 1, "YE98", "محافظة النور", "YEM", trapsValid},
		{"YEM", 2, "YE9801", `مديرية "الوادي"`, "YE98", trapsValid},
	},
	"MMR": {
		{"MMR", 1, "MM98", "北山县", "MMR", trapsValid},
		{"MMR", 2, "MM9801", "東村, 第二", "MM98", trapsValid},
		{"MMR", 2, "MM9802", "Smile 🌊 Bay", "MM98", trapsValid},
	},
	"MOZ": {
		{"MOZ", 1, "MZ98", " Lituba Bay & Nkoro ", "MOZ", trapsValid},
		{"MOZ", 2, "MZ9801", `Vila "Nova", Sul `, "MZ98", trapsValid},
	},
	"COL": {
		{"COL", 1, "CO98", `100% Alto_Bajo\Sur`, "COL", trapsValid},
		{"COL", 2, "CO9801", `50%_Río\Ñ`, "CO98", trapsValid},
	},
	"UKR": {
		{"UKR", 1, "UA98", "İĞDIR Straße ΣΊΣΥΦΟΣ", "UKR", trapsValid},
		{"UKR", 2, "UA9801", strings.Repeat("Довге ", 85) + "ім", "UA98", trapsValid}, // 512 characters
	},
	"SOM": { // names that are replaced by the provider's
		{"SOM", 1, "SO98", "unspecified", "SOM", trapsValid},
		{"SOM", 2, "SO9801", "Unspecified", "SO98", trapsValid},
		{"SOM", 2, "SO9802", "", "SO98", trapsValid},
	},
}

// showTraps makes the places whose unit a CSV hides, shifts or loses.
func (w *world) showTraps() []*place {
	unspecified := func(iso3 string) *admin2 { return w.byCode[iso3].unspecified }
	afghanistan := w.byCode["AFG"].units2[0]
	ethiopia := w.byCode["ETH"].units2[0]
	mali := w.byCode["MLI"].units2[0]
	traps := []*place{
		// stale codes: the row falls back to its country and keeps its names
		{
			iso3: "TCD", pa1: "Batha Nord", pa2: "Yalé", code1: "TCD01", name1: "Batha", code2: "TCD0101",
			name2: "Yale", level: "2", unit: unspecified("TCD"),
		},
		{iso3: "TCD", pa1: "Batha Sud", code1: "TCD02", name1: "Batha", level: "1", unit: unspecified("TCD")},
		{
			iso3: "MLI", pa1: mali.parent.name, pa2: "Old Quarter", code1: mali.parent.code, name1: mali.parent.name,
			code2: "ML999999", name2: "Old Quarter", level: "2", unit: unspecified("MLI"),
		},
		// names without codes
		{iso3: "UKR", pa1: "Sea of Glass", level: "2", unit: unspecified("UKR")},
		{iso3: "SDN", pa1: "Región X", pa2: "Ville, “Y”", level: "2", unit: unspecified("SDN")},
		{iso3: "SDN", pa2: "nobody's land", level: "2", unit: unspecified("SDN")},
		{iso3: "NER", name1: "Only In The List", level: "1", unit: unspecified("NER")},
		{
			iso3: "MLI", pa1: "Kayes-like", pa2: "camp nº 4", code1: mali.parent.code, name1: mali.parent.name,
			level: "2", unit: mali.parent.connector,
		},
		{
			iso3: "MLI", pa1: "Kayes-like", pa2: " ", code1: mali.parent.code, name1: mali.parent.name, level: "2",
			unit: mali.parent.connector,
		},
		// a code without a name does not count
		{iso3: "AFG", code2: afghanistan.code, level: "2", unit: unspecified("AFG")},
		{
			iso3: "AFG", pa1: "Somewhere", code1: afghanistan.parent.code, code2: afghanistan.code, level: "1",
			unit: afghanistan.parent.connector,
		},
		// a second-level code is enough; the row belongs to the country of its unit
		{iso3: "AFG", pa2: "No first level", code2: afghanistan.code, level: "2", unit: afghanistan},
		{
			iso3: "KEN", pa1: "Across", pa2: "the border", code1: "KE01", name1: "Across", code2: ethiopia.code,
			name2: ethiopia.name, level: "2", unit: ethiopia,
		},
		// one code at two levels
		{
			iso3: "HTI", pa1: "Ile Longue", code1: "HT99", name1: "Île Longue", level: "1",
			unit: w.unit1("HT99").connector,
		},
		{iso3: "ECU", pa1: "Mar", code1: "ECMAR", name1: "Mar Afuera", level: "1", unit: w.unit1("ECMAR").connector},
		{
			iso3: "ECU", pa1: "Mar", pa2: "Mar", code1: "ECMAR", name1: "Mar Afuera", code2: "ECMAR",
			name2: "Mar Afuera", level: "2", unit: unspecified("ECU"),
		},
		// flags that contradict the country's
		{iso3: "CAN", level: "0", unit: unspecified("CAN"), wrongFlags: true},
		{iso3: "CMR", level: "0", unit: unspecified("CMR"), wrongFlags: true},
	}
	for _, code := range []string{
		"HT99", orphanCode, "YE9801", "MM9801", "MM9802", "MZ9801", "CO9801", "UA9801",
		"SO9801", "SO9802",
	} {
		u := w.unit2(code)
		traps = append(traps, &place{
			iso3: u.parent.location.iso3, pa1: "as sent 1 ", pa2: "as sent 2, \"" + code + "\"", level: "2",
			code1: u.parent.code, name1: u.parent.name, code2: u.code, name2: u.name, unit: u,
		})
	}
	for _, code := range []string{"YE98", "MM98", "MZ98", "CO98", "UA98", "SO98"} {
		u := w.unit1(code)
		traps = append(traps, &place{
			iso3: u.location.iso3, pa1: u.name, level: "1", code1: u.code, name1: u.name, unit: u.connector,
		})
	}
	return traps
}

func (w *world) unit1(code string) *admin1 {
	for _, u := range w.admin1 {
		if u.code == code {
			return u
		}
	}
	panic("generator: no first-level unit " + code)
}

func (w *world) unit2(code string) *admin2 {
	for _, u := range w.admin2 {
		if u.code == code {
			return u
		}
	}
	panic("generator: no second-level unit " + code)
}
