package generator

import (
	"encoding/json"

	"hdqs/testdata"
)

// theme is one kind of data: a role in the directory catalog, a view in the database.
type theme struct {
	role, view    string
	dataset       string                   // the catalog's own dataset, which only catalog.json names
	byteOrderMark bool                     // and lines end with CR LF
	moved         bool                     // the columns of that file, as in file
	files         func(*world) []file      // nil: one file
	rows          func(*world, func(*row)) // of that file
}

type file struct {
	name   string
	tagged bool // has a row of tags below the header
	moved  bool // columns in another order, and an unknown one
	rows   func(emit func(*row))
}

var themes = []*theme{
	{"conflict-events", "conflict_event", "conflict-event", true, false, (*world).conflictFiles, nil},
	{"operational-presence", "operational_presence", "operational-presence", false, false, nil, (*world).presenceRows},
	{"funding", "funding", "funding", true, false, nil, (*world).fundingRows},
	{"national-risk", "national_risk", "", false, false, nil, (*world).riskRows},
	{"humanitarian-needs", "humanitarian_needs", "humanitarian-needs", false, false, (*world).needsFiles, nil},
	{"refugees-persons-of-concern", "refugees", "refugees", true, false, (*world).refugeeFiles, nil},
	{"returnees", "returnees", "returnees", true, false, nil, (*world).returneeRows},
	{"idps", "idps", "idps", true, true, nil, (*world).idpRows},
	{"food-security", "food_security", "food-security", true, false, nil, (*world).foodRows},
	{"food-prices-market-monitor", "food_price", "food-price", false, false, (*world).priceFiles, nil},
	{"poverty-rate", "poverty_rate", "poverty-rate", false, false, nil, (*world).povertyRows},
	{"rainfall", "rainfall", "rainfall", true, false, (*world).rainfallFiles, nil},
	{"baseline-population", "population", "population", true, false, (*world).populationFiles, nil},
}

// filesOf are the files of a theme. The only one of many has the name of the view.
func (t *theme) filesOf(w *world) []file {
	if t.files != nil {
		return t.files(w)
	}
	rows := func(emit func(*row)) { t.rows(w, emit) }
	return []file{{name: "hdx_hapi_" + t.view + "_global.csv", moved: t.moved, rows: rows}}
}

// contract has the enumerations of the public contract.
var contract = func() (c struct {
	Enums map[string]struct {
		Values []string `json:"values_in_sort_order"`
	}
},
) {
	if err := json.Unmarshal(testdata.Contract, &c); err != nil {
		panic(err)
	}
	return c
}()

// enum is the values of an enumeration, in the contract's order.
func enum(name string) []string { return contract.Enums[name].Values }

// The periods of trap rows. No ordinary row starts on such a day, so keys do not collide.
var (
	trapDay    = date(2024, 2, 29)
	trapEnd    = date(2024, 3, 9)
	errorTexts = []string{
		"Non matching p-code", "Duplicate row", "Ignoring livelihood pattern",
		"Duplicate row with earlier date of analysis, dropped",
	}
	warnings = []string{"PCode length changed", "PCode unknown (parent)|no adm2 name", "Rounded value"}
)

// nowhere is a place in a country that is no location. Upstream marks its rows.
func (w *world) nowhere() *place {
	return &place{iso3: "XKX", level: "0", unit: w.locations[0].unspecified}
}

// trapRows emits a row for each trap place, three whose source is unknown, and one that upstream
// marked. set fills each.
func (w *world) trapRows(src *resource, emit func(*row), set func(*row, int)) {
	for i, p := range w.traps {
		r := row{at: p, src: src, start: trapDay, end: trapEnd}
		if i%5 == 2 {
			r.warning = warnings[i%len(warnings)]
		}
		set(&r, i)
		emit(&r)
	}
	for i := range 3 {
		r := row{at: w.national[w.deep[i].id-1], src: w.packages.unknown(i), start: trapDay + 1, end: trapEnd}
		set(&r, i)
		emit(&r)
	}
	bad := row{at: w.nowhere(), src: src, start: trapDay, end: trapEnd, fault: errorTexts[0]}
	set(&bad, 0)
	emit(&bad)
}
