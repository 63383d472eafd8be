package browse

import (
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/lang"
)

// drawing is how figures are drawn.
type drawing uint8

const (
	asBars drawing = iota
	overTime
	onCountries // a map
	onUnits     // a map of the units of one country
	onPoints    // a map with a mark for each place
)

// by is what figures can be drawn by.
type by struct {
	value, label string // label is what it is called in a title
	as           drawing
	fields       []string // that the records of one figure have in common; the first is its value
	level        int      // of the units
	each         bool     // bars are of each combination of values of the fields
}

// bysOf are what figures can be drawn by: time, countries, units of one country, places,
// enumerations and short lists.
func bysOf(q *Question, s state) []by {
	e := q.Plan.Endpoint
	l := q.Language
	var all []by
	if len(e.Series()) > 0 && len(e.Figures) > 0 { // without figures they are of what goes on for years
		for _, part := range []string{"month", "year"} {
			if part == "month" && contract.IsYearly(e) {
				continue
			}
			b := by{value: part, label: l.T(part), as: overTime, fields: []string{part}}
			if field := compared(e, s); field != "" {
				b.fields = append(b.fields, field)
			}
			all = append(all, b)
		}
	}
	for i := range e.Fields {
		f := &e.Fields[i]
		b := by{value: f.Name, fields: []string{f.Name}, label: strings.ToLower(label(l, f.Name))}
		switch {
		case isCountry(f.Name):
			if b.as, b.label = onCountries, nounOf(l, f.Name); e.Name() == "returnees" { // it is their own
				b.label = nounOf(l, contract.CountryParam)
			}
		case f.Name == "admin1_code" || f.Name == "admin2_code":
			b.as, b.level, b.label = onUnits, int(f.Name[5]-'0'), nounOf(l, f.Name)
			b.fields = append(b.fields, strings.TrimSuffix(f.Name, "code")+"name")
			if !q.hasMap(s, b.level) {
				continue
			}
		case f.Name == "admin1_name": // countries share names of provinces, and codes are told apart by filters
			b.fields, b.level = []string{"admin1_code", f.Name}, 1
			if len(chosenOf(s, contract.CountryParam)) != 1 {
				b.fields = append(b.fields, contract.CountryParam)
			}
		case f.Type == contract.Choice, f.Name == "admin_level", f.Name == "sector_name",
			f.Name == "appeal_type", f.Name == "category", f.Name == "age_range", f.Name == "org_acronym":
		default:
			continue
		}
		all = append(all, b)
	}
	if e.HasPoints() {
		code, name := "market_code", "market_name"
		if !e.HasField(code) {
			code, name = "code", "name"
		}
		all = append(all, by{
			value: "market", label: l.T("market"), as: onPoints,
			fields: []string{code, name, contract.LatField, contract.LonField},
		})
	}
	return all
}

// hasMap reports whether there are boundaries of the units of a level, of one country.
func (q *Question) hasMap(s state, level int) bool {
	return q.Boundaries != nil && q.Boundaries.Has(level) && len(chosenOf(s, contract.CountryParam)) == 1
}

// nounOf is a field in the middle of a title.
func nounOf(l *lang.Language, field string) string { return strings.ToLower(nounLabel(l, field)) }

// byOf is what the groups of a declared drawing stand for.
func byOf(q *Question, s state, d *contract.Drawing) *by {
	name, bys := q.Plan.Endpoint.Names().Name(d.By), bysOf(q, s)
	b := &bys[slices.IndexFunc(bys, func(b by) bool { return b.value == name })]
	b.fields = []string{b.value} // the drawing groups by what it declares
	return b
}

// choice is what figures are drawn by, in a list of choices.
func (b *by) choice(l *lang.Language) string {
	if b.as == asBars || b.as == overTime {
		return b.label
	}
	return l.T("%s (map)", b.label)
}

// maxCompared is the most countries of which each is a line of its own, or a column of the table.
// The figures of more of them are added up.
const maxCompared = 24

// compared is the field with codes of countries of which the address has several.
func compared(e *contract.Endpoint, s state) string {
	for i := range e.Fields {
		name := e.Fields[i].Name
		if n := len(chosenOf(s, name)); isCountry(name) && n > 1 && n <= maxCompared {
			return name
		}
	}
	return ""
}
