package generator

const (
	places = "location_code,location_name,has_hrp,in_gho,admin1_code,admin1_name,admin1_is_unspecified," +
		"location_ref,admin2_code,admin2_name," +
		"admin2_is_unspecified,admin1_ref,admin_level"
	sent   = "resource_hdx_id,admin2_ref,provider_admin1_name,provider_admin2_name,"
	period = ",reference_period_start,reference_period_end,"
	paths  = "resource_hdx_id,origin_location_ref,asylum_location_ref,population_group,gender,age_range,min_age," +
		"max_age,population" + period +
		"origin_location_code,origin_location_name,origin_has_hrp,origin_in_gho,asylum_location_code," +
		"asylum_location_name,asylum_has_hrp,asylum_in_gho"
)

// viewHeaders are the columns of the views of the themes.
var viewHeaders = map[string]string{
	"conflict_event": sent + "event_type,events,fatalities" + period + places,
	"operational_presence": sent + "org_acronym,org_name,sector_code" + period +
		"org_type_code,org_type_description,sector_name," + places,
	"funding": "resource_hdx_id,appeal_code,location_ref,appeal_name,appeal_type,requirements_usd,funding_usd," +
		"funding_pct" + period +
		"location_code,location_name,has_hrp,in_gho",
	"national_risk": "resource_hdx_id,location_ref,risk_class,global_rank,overall_risk,hazard_exposure_risk," +
		"vulnerability_risk," +
		"coping_capacity_risk,meta_missing_indicators_pct,meta_avg_recentness_years" + period +
		"location_code,location_name,has_hrp,in_gho",
	"humanitarian_needs": sent + "category,sector_code,population_status,population" + period + "sector_name," + places,
	"refugees":           paths,
	"returnees":          paths,
	"idps":               sent + "assessment_type,reporting_round,operation,population" + period + places,
	"food_security": sent + "ipc_phase,ipc_type,population_in_phase,population_fraction_in_phase" + period +
		places,
	"food_price": "resource_hdx_id,market_code,commodity_code,currency_code,unit,price_flag,price_type,price" + period +
		"admin2_ref,provider_admin1_name,provider_admin2_name,market_name,lat,lon,commodity_category," +
		"commodity_name," + places,
	"poverty_rate": "resource_hdx_id,admin1_ref,provider_admin1_name,mpi,headcount_ratio,intensity_of_deprivation," +
		"vulnerable_to_poverty," +
		"in_severe_poverty" + period +
		"location_code,location_name,has_hrp,in_gho,admin1_name,admin1_code,admin1_is_unspecified,location_ref," +
		"poverty_level",
	"rainfall": sent + "provider_admin1_code,provider_admin2_code,aggregation_period,rainfall," +
		"rainfall_long_term_average," +
		"rainfall_anomaly_pct,number_pixels,version" + period + places,
	"population": sent + "gender,age_range,min_age,max_age,population" + period + places,
	"wfp_market": "market_code,admin2_ref,provider_admin1_name,provider_admin2_name,market_name,lat,lon," + places,
}

// viewName is the name of a column in a view, if it differs from that of its printer.
func viewName(view, column string) string {
	switch {
	case column == "poverty_level":
		return "admin_level"
	case view == "wfp_market" && (column == "market_code" || column == "market_name"):
		return column[len("market_"):]
	}
	return column
}

// putView prints the columns of the views, with all joins done.
var putView = map[string]func(*line, *row){
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
	"poverty_level":          func(l *line, r *row) { l.int(r.at.trueLevel1()) },
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
