package generator

import (
	"fmt"

	"hdqs/schema"
)

// theme is one kind of data: a role in the directory catalog, a view in the database.
type theme struct {
	role          string
	unnamed       bool                     // catalog.json does not name the dataset
	byteOrderMark bool                     // and lines end with CR LF
	moved         bool                     // the columns of that file, as in file
	files         func(*world) []file      // nil: one file
	rows          func(*world, func(*row)) // of that file

	// Set by withColumns.
	view, dataset      string
	header, viewHeader []string
	printers           map[string]printer // of columns that have none in columns_csv.go and columns_view.go
}

type file struct {
	name   string
	tagged bool // has a row of tags below the header
	moved  bool // columns in another order, and an unknown one
	rows   func(emit func(*row))
}

var themes = withColumns([]*theme{
	{role: "conflict-events", byteOrderMark: true, files: (*world).conflictFiles},
	{role: "operational-presence", rows: (*world).presenceRows},
	{role: "funding", byteOrderMark: true, rows: (*world).fundingRows},
	{role: "national-risk", unnamed: true, rows: (*world).riskRows},
	{role: "humanitarian-needs", files: (*world).needsFiles},
	{role: "refugees-persons-of-concern", byteOrderMark: true, files: (*world).refugeeFiles},
	{role: "returnees", byteOrderMark: true, rows: (*world).returneeRows},
	{role: "idps", byteOrderMark: true, moved: true, rows: (*world).idpRows},
	{role: "food-security", byteOrderMark: true, rows: (*world).foodRows},
	{role: "food-prices-market-monitor", files: (*world).priceFiles},
	{role: "poverty-rate", rows: (*world).povertyRows},
	{role: "rainfall", byteOrderMark: true, files: (*world).rainfallFiles},
	{role: "baseline-population", byteOrderMark: true, files: (*world).populationFiles},
})

// filesOf are the files of a theme. The only one of many has the name of the view.
func (t *theme) filesOf(w *world) []file {
	if t.files != nil {
		return t.files(w)
	}
	rows := func(emit func(*row)) { t.rows(w, emit) }
	return []file{{name: "hdx_hapi_" + t.view + "_global.csv", moved: t.moved, rows: rows}}
}

// numbered are files with the numbers from first to last in their names.
func numbered(form string, first, last int, rows func(n int, emit func(*row))) (files []file) {
	for n := first; n <= last; n++ {
		files = append(files, file{name: fmt.Sprintf(form, n), rows: func(emit func(*row)) { rows(n, emit) }})
	}
	return files
}

// enum is the values of an enumeration, in its sort order.
func enum(name string) []string {
	for _, l := range schema.Lists {
		for _, c := range l.Columns {
			if c.Enum != nil && c.Enum.Name == name {
				return c.Enum.Values
			}
		}
	}
	panic("generator: no enumeration " + name)
}

// The periods of trap rows. No ordinary row starts on such a day, so keys do not collide. Most
// ordinary rows are newer, so that the newest figure of a place is seldom that of a trap.
var (
	trapDay    = date(2016, 2, 29)
	trapEnd    = date(2016, 3, 9)
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
