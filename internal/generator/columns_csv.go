package generator

import (
	_ "embed"
	"strings"
)

//go:embed headers.txt
var headersText string

//go:embed views.txt
var viewsText string

// columnsOf reads lines with a name and columns, and writes out the blocks that headers share.
func columnsOf(text string) map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(text) {
		name, columns, found := strings.Cut(strings.TrimSpace(line), ":")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		for column := range strings.SplitSeq(columns, ",") {
			if column = strings.TrimSpace(column); column == "ADM" || column == "REF" {
				all[name] = append(all[name], all[column]...)
			} else {
				all[name] = append(all[name], column)
			}
		}
	}
	return all
}

// csvHeaders are the columns of files as the catalog publishes them, viewHeaders those of the
// views, where they do not follow from package schema.
var csvHeaders, viewHeaders = columnsOf(headersText), columnsOf(viewsText)

type printer func(*line, *row)

// putCSV prints the columns of the CSV files: what upstream matched, which may be wrong.
var putCSV = map[string]printer{
	"location_code":        func(l *line, r *row) { l.text(r.csvCode()) },
	"has_hrp":              func(l *line, r *row) { r.csvFlag(l, true) },
	"in_gho":               func(l *line, r *row) { r.csvFlag(l, false) },
	"provider_admin1_name": func(l *line, r *row) { l.text(r.csvPlace().pa1) },
	"provider_admin2_name": func(l *line, r *row) { l.text(r.csvPlace().pa2) },
	"admin1_code":          func(l *line, r *row) { l.text(r.csvPlace().code1) },
	"admin1_name":          func(l *line, r *row) { l.text(r.csvPlace().name1) },
	"admin2_code":          func(l *line, r *row) { l.text(r.csvPlace().code2) },
	"admin2_name":          func(l *line, r *row) { l.text(r.csvPlace().name2) },
	"admin_level":          func(l *line, r *row) { l.text(r.csvPlace().level) },

	"reference_period_start": func(l *line, r *row) { l.time(r.start, r.csvClock(1)) },
	"reference_period_end":   func(l *line, r *row) { l.time(r.end, r.csvClock(2)) },
	"dataset_hdx_id":         func(l *line, r *row) { l.text(r.src.dataset.id) },
	"resource_hdx_id":        func(l *line, r *row) { l.text(r.src.id) },
	"warning":                func(l *line, r *row) { l.text(r.warning) },
	"error":                  func(l *line, r *row) { l.text(r.fault) },

	"population": func(l *line, r *row) {
		l.nullableInt(r.count, r.countNull)
		if r.odd {
			l.buf = append(l.buf, ".0"...)
		}
	},
	"org_type_description": func(l *line, r *row) { l.text(r.org.kindName) },
	"sector_name":          func(l *line, r *row) { l.text(r.sector.name) },

	"origin_location_code": func(l *line, r *row) { l.text(r.csvCode()) },
	"origin_has_hrp":       func(l *line, r *row) { r.csvFlag(l, true) },
	"origin_in_gho":        func(l *line, r *row) { r.csvFlag(l, false) },
	"asylum_location_code": func(l *line, r *row) { l.text(r.asylum.iso3) },
	"asylum_has_hrp":       func(l *line, r *row) { l.flag(r.asylum.plan, "Y", "N") },
	"asylum_in_gho":        func(l *line, r *row) { l.flag(r.asylum.appeal, "Y", "N") },
	"usd_price":            func(l *line, r *row) { l.number(r.values[1]) },
	"made_up":              func(l *line, _ *row) { l.text("yes") },
}

// putBoth prints the columns that are the same in CSV files and views.
var putBoth = map[string]printer{
	"event_type":                   func(l *line, r *row) { l.text(r.kind) },
	"events":                       func(l *line, r *row) { l.nullableInt(r.count, r.countNull) },
	"fatalities":                   func(l *line, r *row) { l.nullableInt(r.deaths, r.deathsNull) },
	"org_acronym":                  func(l *line, r *row) { l.text(r.org.acronym) },
	"org_name":                     func(l *line, r *row) { l.text(r.org.name) },
	"sector_code":                  func(l *line, r *row) { l.text(r.sector.code) },
	"appeal_code":                  func(l *line, r *row) { l.text(r.appeal.code) },
	"appeal_name":                  func(l *line, r *row) { l.text(r.appeal.name) },
	"appeal_type":                  func(l *line, r *row) { l.nullable(r.appeal.kind) },
	"requirements_usd":             func(l *line, r *row) { l.nullableInt(r.appeal.needed, r.appeal.neededNull) },
	"funding_usd":                  func(l *line, r *row) { l.int(r.appeal.given) },
	"funding_pct":                  func(l *line, r *row) { l.nullableInt(r.appeal.pct, r.appeal.pctNull) },
	"risk_class":                   func(l *line, r *row) { l.int(r.risk.class) },
	"global_rank":                  func(l *line, r *row) { l.int(r.risk.rank) },
	"overall_risk":                 func(l *line, r *row) { l.number(r.risk.risks[0]) },
	"hazard_exposure_risk":         func(l *line, r *row) { l.number(r.risk.risks[1]) },
	"vulnerability_risk":           func(l *line, r *row) { l.number(r.risk.risks[2]) },
	"coping_capacity_risk":         func(l *line, r *row) { l.number(r.risk.risks[3]) },
	"meta_missing_indicators_pct":  func(l *line, r *row) { l.number(r.risk.missing) },
	"meta_avg_recentness_years":    func(l *line, r *row) { l.number(r.risk.recentness) },
	"category":                     func(l *line, r *row) { l.text(r.kind) },
	"population_status":            func(l *line, r *row) { l.text(r.state) },
	"population_group":             func(l *line, r *row) { l.text(r.kind) },
	"gender":                       func(l *line, r *row) { l.text(r.gender) },
	"age_range":                    func(l *line, r *row) { l.text(r.age.label) },
	"min_age":                      func(l *line, r *row) { l.nullableInt(r.age.min, r.age.min < 0) },
	"max_age":                      func(l *line, r *row) { l.nullableInt(r.age.max, r.age.max < 0) },
	"operation":                    func(l *line, r *row) { l.text(r.operation) },
	"assessment_type":              func(l *line, r *row) { l.text(r.kind) },
	"reporting_round":              func(l *line, r *row) { l.int(r.round) },
	"ipc_phase":                    func(l *line, r *row) { l.text(r.kind) },
	"ipc_type":                     func(l *line, r *row) { l.text(r.state) },
	"population_in_phase":          func(l *line, r *row) { l.int(r.count) },
	"population_fraction_in_phase": func(l *line, r *row) { l.number(r.values[0]) },
	"market_name":                  func(l *line, r *row) { l.text(r.market.name) },
	"market_code":                  func(l *line, r *row) { l.text(r.market.code) },
	"lat":                          func(l *line, r *row) { l.number(r.market.lat) },
	"lon":                          func(l *line, r *row) { l.number(r.market.lon) },
	"commodity_category":           func(l *line, r *row) { l.text(r.commodity.category) },
	"commodity_name":               func(l *line, r *row) { l.text(r.commodity.name) },
	"commodity_code":               func(l *line, r *row) { l.text(r.commodity.code) },
	"unit":                         func(l *line, r *row) { l.text(r.measure) },
	"price_flag":                   func(l *line, r *row) { l.text(r.flag) },
	"price_type":                   func(l *line, r *row) { l.text(r.trade) },
	"currency_code":                func(l *line, r *row) { l.text(r.currency) },
	"price":                        func(l *line, r *row) { l.number(r.values[0]) },
	"mpi":                          func(l *line, r *row) { l.number(r.values[0]) },
	"headcount_ratio":              func(l *line, r *row) { l.number(r.values[1]) },
	"intensity_of_deprivation":     func(l *line, r *row) { l.number(r.values[2]) },
	"vulnerable_to_poverty":        func(l *line, r *row) { l.number(r.values[3]) },
	"in_severe_poverty":            func(l *line, r *row) { l.number(r.values[4]) },
	"provider_admin1_code":         func(l *line, r *row) { l.text(r.pc1) },
	"provider_admin2_code":         func(l *line, r *row) { l.text(r.pc2) },
	"aggregation_period":           func(l *line, r *row) { l.text(r.kind) },
	"rainfall":                     func(l *line, r *row) { l.number(r.values[0]) },
	"rainfall_long_term_average":   func(l *line, r *row) { l.number(r.values[1]) },
	"rainfall_anomaly_pct":         func(l *line, r *row) { l.number(r.values[2]) },
	"number_pixels":                func(l *line, r *row) { l.nullableInt(r.pixels, r.pixels == 0) },
	"version":                      func(l *line, r *row) { l.nullable(r.state) },
}

// csvCode is the CSV's location_code of a row, or of its origin.
func (r *row) csvCode() string {
	switch {
	case r.homeCode != "":
		return r.homeCode
	case r.home != nil:
		return r.home.iso3
	}
	return r.csvPlace().iso3
}

// csvFlag prints has_hrp (plan) or in_gho as in the CSV, where they may be wrong.
func (r *row) csvFlag(l *line, plan bool) {
	switch {
	case r.homeCode != "": // a code that upstream does not know has no flags
	case r.risk != nil: // this file is written from a database
		l.flag(plan && r.home.plan || !plan && r.home.appeal, "True", "False")
	case r.home != nil:
		l.flag(plan && r.home.plan || !plan && r.home.appeal, "Y", "N")
	default:
		p := r.csvPlace()
		of := p.location()
		l.flag((plan && of.plan || !plan && of.appeal) != p.wrongFlags, "Y", "N")
	}
}

// csvClock is the time of a period's start (1) or end (2). Only the poverty file has times.
func (r *row) csvClock(which int) string {
	switch {
	case r.clock == 0:
		return ""
	case r.clock == 2 && which == 2:
		return " 23:59:59+00:00"
	}
	return " 00:00:00+00:00"
}

func bind(header []string, own, others map[string]printer) []printer {
	all := make([]printer, len(header))
	for i, name := range header {
		for _, printers := range []map[string]printer{others, own, putBoth} {
			if all[i] == nil {
				all[i] = printers[name]
			}
		}
		if all[i] == nil {
			panic("generator: no printer for the column " + name)
		}
	}
	return all
}

func (l *line) put(columns []printer, r *row) {
	for _, put := range columns {
		l.cell()
		put(l, r)
	}
	l.end()
}
