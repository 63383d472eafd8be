package contract

var coordination = []Endpoint{
	{
		Path:    "/api/v2/coordination-context/operational-presence",
		Table:   "operational_presence",
		Summary: "Who does what where",
		Fields: record(
			geo, res, text("org_acronym", 32), text("org_name", 512), text("sector_code", 32), text("sector_name", 512),
			times("reference_period_start"), null(times("reference_period_end")),
			null(text("org_type_code", 32), text("org_type_description", 512)),
		),
		Place: filters(loc, a1, a2, lvl),
		Params: filters(
			several(contains("sector_code", 512)), contains("sector_name", 512), like("org_acronym", 32), contains("org_name", 512),
			flags, dates,
		),
		Key: keyOf(unit2, []string{"org_acronym", "org_name", "sector_code", PeriodStart}),
		Order: []string{
			"admin2_ref", "org_acronym", "org_name", "sector_code", PeriodStart, "provider_admin1_name",
			"provider_admin2_name",
		},
		Figures: level,
		Edition: &Edition{},
	},
	{
		Path:    "/api/v2/coordination-context/funding",
		Table:   "funding",
		Summary: "Appeals: money asked for and received",
		Fields: record(
			res, text("appeal_code", 64), text("appeal_name", 256), null(text("appeal_type", 64)),
			null(decimals("requirements_usd")), decimals("funding_usd"), null(decimals("funding_pct")), country, period,
		),
		Params: filters(
			example("HAFG24", like("appeal_code", 64)), example("HRP", like("appeal_type", 64)), loc, flags, dates,
		),
		Key:     []string{"appeal_code", "location_code", PeriodStart},
		Order:   []string{"appeal_code", "location_ref", PeriodStart},
		Figures: figures(amounts("money", "requirements_usd", "funding_usd"), neither("a percentage", "funding_pct")),
		Dimensions: dimensions(
			fromFile, parts("appeal_code", "appeal_name"), parts("appeal_type"), inCountry, flow,
		),
		Edition: &Edition{Having: "appeal_type"},
	},
	{
		Path:    "/api/v2/coordination-context/conflict-events",
		Table:   "conflict_event",
		Summary: "Conflict events and fatalities by month",
		Fields:  record(geo, res, choice("event_type", eventType), null(integers("events", "fatalities")), period),
		Place:   filters(loc, a1, a2, lvl),
		Params:  filters(oneOf("event_type", eventType), flags, dates),
		Key:     keyOf(unit2, []string{"event_type", PeriodStart}),
		Order: []string{
			"admin2_ref", "event_type", PeriodStart, "provider_admin1_name", "provider_admin2_name",
		},
		Figures: figures(level, amounts("events", "events"), amounts("deaths", "fatalities")),
		// The source counts violence against civilians, and explosions and remote violence, under
		// political violence; those of them that target civilians again under civilian targeting.
		Dimensions: dimensions(
			inUnit2, fromFile, totals("event_type", total("political_violence", "civilian_targeting")), flow,
		),
		Provisional: Unfinished,
	},
	{
		Path:    "/api/v2/coordination-context/national-risk",
		Table:   "national_risk",
		Summary: "Risk of humanitarian crises by country",
		Note:    "Risks run from 0 to 10, global_rank from 1 to 250.",
		Fields: record(
			choice("risk_class", riskClass), integers("global_rank"),
			decimals("overall_risk", "hazard_exposure_risk", "vulnerability_risk", "coping_capacity_risk"),
			null(decimals("meta_missing_indicators_pct", "meta_avg_recentness_years")), period, res, country,
		),
		Params: filters(
			oneOf("risk_class", riskClass), between("global_rank", Integer), between("overall_risk", Number),
			between("hazard_exposure_risk", Number), between("vulnerability_risk", Number),
			between("coping_capacity_risk", Number), loc, flags, dates,
		),
		Key:   []string{"location_code", PeriodStart},
		Order: []string{"location_ref", PeriodStart},
		Figures: figures(
			neither("a rank", "global_rank"),
			neither("an index", "overall_risk", "hazard_exposure_risk", "vulnerability_risk", "coping_capacity_risk"),
			neither("a fraction", "meta_missing_indicators_pct"), neither("an age of data", "meta_avg_recentness_years"),
		),
		Edition: &Edition{},
	},
}
