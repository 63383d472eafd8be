package generator

// theme is one kind of data: a role of the directory catalog and a view of the database.
type theme struct {
	role, view            string
	dataset               string // the catalog's own dataset, which only the manifest names
	category, subcategory string
	byteOrderMark         bool // and CR LF; else neither
	files                 func(*world) []file
}

// file is one CSV of a theme.
type file struct {
	name   string
	tagged bool // has the old second row
	moved  bool // columns in another order, and one that nobody knows
	rows   func(emit func(*row))
}

var themes = []*theme{
	{role: "conflict-events", view: "conflict_event", dataset: "conflict-event", category: coordination, subcategory: "conflict-events", byteOrderMark: true, files: (*world).conflictFiles},
	{role: "operational-presence", view: "operational_presence", dataset: "operational-presence", category: coordination, subcategory: "operational-presence", files: (*world).presenceFiles},
	{role: "funding", view: "funding", dataset: "funding", category: coordination, subcategory: "funding", byteOrderMark: true, files: (*world).fundingFiles},
	{role: "national-risk", view: "national_risk", category: coordination, subcategory: "national-risk", files: (*world).riskFiles},
	{role: "humanitarian-needs", view: "humanitarian_needs", dataset: "humanitarian-needs", category: affected, subcategory: "humanitarian-needs", files: (*world).needsFiles},
	{role: "refugees-persons-of-concern", view: "refugees", dataset: "refugees", category: affected, subcategory: "refugees-persons-of-concern", byteOrderMark: true, files: (*world).refugeeFiles},
	{role: "returnees", view: "returnees", dataset: "returnees", category: affected, subcategory: "returnees", byteOrderMark: true, files: (*world).returneeFiles},
	{role: "idps", view: "idps", dataset: "idps", category: affected, subcategory: "idps", byteOrderMark: true, files: (*world).idpFiles},
	{role: "food-security", view: "food_security", dataset: "food-security", category: food, subcategory: "food-security", byteOrderMark: true, files: (*world).foodFiles},
	{role: "food-prices-market-monitor", view: "food_price", dataset: "food-price", category: food, subcategory: "food-prices-market-monitor", files: (*world).priceFiles},
	{role: "poverty-rate", view: "poverty_rate", dataset: "poverty-rate", category: food, subcategory: "poverty-rate", files: (*world).povertyFiles},
	{role: "rainfall", view: "rainfall", dataset: "rainfall", category: "climate", subcategory: "hazards-rainfall", byteOrderMark: true, files: (*world).rainfallFiles},
	{role: "baseline-population", view: "population", dataset: "population", category: "geography-infrastructure", subcategory: "baseline-population", byteOrderMark: true, files: (*world).populationFiles},
}

const (
	coordination = "coordination-context"
	affected     = "affected-people"
	food         = "food-security-nutrition-poverty"
)

// The periods of the rows of the traps: no ordinary row begins on such a day, so no key is taken twice by chance.
var (
	trapDay    = date(2024, 2, 29)
	trapEnd    = date(2024, 3, 9)
	errorTexts = []string{"Non matching p-code", "Duplicate row", "Ignoring livelihood pattern", "Duplicate row with earlier date of analysis, dropped"}
	warnings   = []string{"PCode length changed", "PCode unknown (parent)|no adm2 name", "Rounded value"}
)

// nowhere is a place of a country that is no location; upstream marks its rows.
func (w *world) nowhere() *place {
	return &place{iso3: "XKX", level: "0", unit: w.locations[0].unspecified}
}

// trapRows emits a row for each trap, one that upstream marked, and one whose source nobody knows, after set has filled it.
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
		r := row{at: w.national[w.deep[i].id-1], src: w.unknown(i), start: trapDay + 1, end: trapEnd}
		set(&r, i)
		emit(&r)
	}
	bad := row{at: w.nowhere(), src: src, start: trapDay, end: trapEnd, fault: errorTexts[0]}
	set(&bad, 0)
	emit(&bad)
}
