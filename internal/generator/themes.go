package generator

// theme is one kind of data: a role in the directory catalog, a view in the database.
type theme struct {
	role, view            string
	dataset               string // the catalog's own dataset, which only catalog.json names
	category, subcategory string
	byteOrderMark         bool // and lines end with CR LF
	files                 func(*world) []file
}

// file is one CSV of a theme.
type file struct {
	name   string
	tagged bool // has a row of tags below the header
	moved  bool // columns in another order, and an unknown one
	rows   func(emit func(*row))
}

var themes = []*theme{
	{
		role: "conflict-events", view: "conflict_event", dataset: "conflict-event", category: coordination,
		subcategory: "conflict-events", byteOrderMark: true, files: (*world).conflictFiles,
	},
	{
		role: "operational-presence", view: "operational_presence", dataset: "operational-presence",
		category: coordination, subcategory: "operational-presence", files: (*world).presenceFiles,
	},
	{
		role: "funding", view: "funding", dataset: "funding", category: coordination, subcategory: "funding",
		byteOrderMark: true, files: (*world).fundingFiles,
	},
	{
		role: "national-risk", view: "national_risk", category: coordination, subcategory: "national-risk",
		files: (*world).riskFiles,
	},
	{
		role: "humanitarian-needs", view: "humanitarian_needs", dataset: "humanitarian-needs", category: affected,
		subcategory: "humanitarian-needs", files: (*world).needsFiles,
	},
	{
		role: "refugees-persons-of-concern", view: "refugees", dataset: "refugees", category: affected,
		subcategory: "refugees-persons-of-concern", byteOrderMark: true, files: (*world).refugeeFiles,
	},
	{
		role: "returnees", view: "returnees", dataset: "returnees", category: affected, subcategory: "returnees",
		byteOrderMark: true, files: (*world).returneeFiles,
	},
	{
		role: "idps", view: "idps", dataset: "idps", category: affected, subcategory: "idps", byteOrderMark: true,
		files: (*world).idpFiles,
	},
	{
		role: "food-security", view: "food_security", dataset: "food-security", category: food,
		subcategory: "food-security", byteOrderMark: true, files: (*world).foodFiles,
	},
	{
		role: "food-prices-market-monitor", view: "food_price", dataset: "food-price", category: food,
		subcategory: "food-prices-market-monitor", files: (*world).priceFiles,
	},
	{
		role: "poverty-rate", view: "poverty_rate", dataset: "poverty-rate", category: food,
		subcategory: "poverty-rate", files: (*world).povertyFiles,
	},
	{
		role: "rainfall", view: "rainfall", dataset: "rainfall", category: "climate", subcategory: "hazards-rainfall",
		byteOrderMark: true, files: (*world).rainfallFiles,
	},
	{
		role: "baseline-population", view: "population", dataset: "population", category: "geography-infrastructure",
		subcategory: "baseline-population", byteOrderMark: true, files: (*world).populationFiles,
	},
}

const (
	coordination = "coordination-context"
	affected     = "affected-people"
	food         = "food-security-nutrition-poverty"
)

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
		r := row{at: w.national[w.deep[i].id-1], src: w.unknown(i), start: trapDay + 1, end: trapEnd}
		set(&r, i)
		emit(&r)
	}
	bad := row{at: w.nowhere(), src: src, start: trapDay, end: trapEnd, fault: errorTexts[0]}
	set(&bad, 0)
	emit(&bad)
}
