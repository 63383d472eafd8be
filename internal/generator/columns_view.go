package generator

import "slices"

func bindView(view string, header []string, others map[string]printer) []printer {
	columns := slices.Clone(header)
	for i, column := range columns {
		switch {
		case view == "poverty_rate" && column == "admin_level":
			columns[i] = "poverty_level"
		case view == "wfp_market" && (column == "code" || column == "name"):
			columns[i] = "market_" + column
		}
	}
	return bind(columns, putView, others)
}

// putView prints the columns of the views, with all joins done.
var putView = map[string]printer{
	"resource_hdx_id":        func(l *line, r *row) { l.text(r.src.id) },
	"admin2_ref":             func(l *line, r *row) { l.int(r.at.unit.id) },
	"admin1_ref":             func(l *line, r *row) { l.int(r.at.admin1().id) },
	"location_ref":           func(l *line, r *row) { l.int(r.location().id) },
	"provider_admin1_name":   func(l *line, r *row) { l.text(r.at.pa1) },
	"provider_admin2_name":   func(l *line, r *row) { l.text(r.at.pa2) },
	"location_code":          func(l *line, r *row) { l.text(r.location().iso3) },
	"location_name":          func(l *line, r *row) { l.text(r.location().name) },
	"has_hrp":                func(l *line, r *row) { l.flag(r.location().plan, "t", "f") },
	"in_gho":                 func(l *line, r *row) { l.flag(r.location().appeal, "t", "f") },
	"admin1_code":            func(l *line, r *row) { l.text(r.at.admin1().code) },
	"admin1_name":            func(l *line, r *row) { l.text(r.at.admin1().name) },
	"admin1_is_unspecified":  func(l *line, r *row) { l.flag(r.at.admin1().unspecified, "t", "f") },
	"admin2_code":            func(l *line, r *row) { l.text(r.at.unit.code) },
	"admin2_name":            func(l *line, r *row) { l.text(r.at.unit.name) },
	"admin2_is_unspecified":  func(l *line, r *row) { l.flag(r.at.unit.unspecified, "t", "f") },
	"admin_level":            func(l *line, r *row) { l.int(r.at.trueLevel()) },
	"poverty_level":          func(l *line, r *row) { l.int(b2i(r.at.pa1 != "" || !r.at.unit.parent.unspecified)) },
	"reference_period_start": func(l *line, r *row) { l.time(r.start, midnight) },
	"reference_period_end":   func(l *line, r *row) { l.time(r.end, lastSecond) },
	"population":             func(l *line, r *row) { l.nullableInt(r.count, r.countNull) },
	"org_type_code":          func(l *line, r *row) { l.nullable(r.org.kind) },
	"org_type_description":   func(l *line, r *row) { l.nullable(r.org.kindName) },
	"sector_name":            func(l *line, r *row) { l.text(r.sector.name) },
	"origin_location_ref":    func(l *line, r *row) { l.int(r.home.id) },
	"asylum_location_ref":    func(l *line, r *row) { l.int(r.asylum.id) },
	"origin_location_code":   func(l *line, r *row) { l.text(r.home.iso3) },
	"origin_location_name":   func(l *line, r *row) { l.text(r.home.name) },
	"origin_has_hrp":         func(l *line, r *row) { l.flag(r.home.plan, "t", "f") },
	"origin_in_gho":          func(l *line, r *row) { l.flag(r.home.appeal, "t", "f") },
	"asylum_location_code":   func(l *line, r *row) { l.text(r.asylum.iso3) },
	"asylum_location_name":   func(l *line, r *row) { l.text(r.asylum.name) },
	"asylum_has_hrp":         func(l *line, r *row) { l.flag(r.asylum.plan, "t", "f") },
	"asylum_in_gho":          func(l *line, r *row) { l.flag(r.asylum.appeal, "t", "f") },
}

const (
	midnight   = " 00:00:00"
	lastSecond = " 23:59:59"
)

// location is the location of a row: its home, or that of its unit.
func (r *row) location() *location {
	if r.home != nil {
		return r.home
	}
	return r.at.location()
}
