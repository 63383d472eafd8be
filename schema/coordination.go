package schema

var coordination = []*List{
	{
		Path:    "coordination-context/operational-presence",
		Summary: "Who does what where",
		Columns: columns(
			place2,
			group("org", text("org_acronym", 32), text("org_name", 512),
				text("org_type_code", 32).orNull(), text("org_type_description", 512).orNull()),
			group("sector", text("sector_code", 32), text("sector_name", 512)),
			openPeriod, resource),
		Record: names(geo, []string{resourceID, "org_acronym", "org_name", "sector_code", "sector_name"}, dates,
			[]string{"org_type_code", "org_type_description"}),
		Filters: []Filter{
			contains("sector_code").several().atMost(512), contains("sector_name"), like("org_acronym"),
			contains("org_name"),
		},
		Order:   names([]string{"admin2_ref", "org_acronym", "org_name", "sector_code", PeriodStart}, providers),
		Edition: &Edition{},
		Source:  Source{First: true},
		Public:  Public{V1: []string{"coordination-context/operational-presence", "themes/3w"}},
	},
	{
		Path:    "coordination-context/funding",
		Summary: "Appeals: money asked for and received",
		Columns: columns(
			country,
			text("appeal_code", 64), text("appeal_name", 256), text("appeal_type", 64).orNull(),
			decimal("requirements_usd").orNull().between(0, 1e11).in("USD").amount("money"),
			decimal("funding_usd").between(0, 1e11).in("USD").amount("money"),
			decimal("funding_pct").orNull().nonNegative().in("%").neither("a percentage"), // can be above 100
			period, resource),
		Record: []string{
			resourceID, "appeal_code", "appeal_name", "appeal_type", "requirements_usd", "funding_usd", "funding_pct",
			"location_code", "location_name", PeriodStart, PeriodEnd,
		},
		Filters: []Filter{like("appeal_code").example("HAFG24"), like("appeal_type").example("HRP")},
		Order:   []string{"appeal_code", "location_ref", PeriodStart},
		Dimensions: dimensions(
			fromFile, parts("appeal_code", "appeal_name"), parts("appeal_type"), inCountry, flow,
		),
		Edition: &Edition{Having: "appeal_type"},
		Source:  Source{First: true},
	},
	{
		Path:    "coordination-context/conflict-events",
		Table:   "conflict_event",
		Summary: "Conflict events and fatalities by month",
		Columns: columns(
			place2,
			choice("event_type", enum("event_type", "civilian_targeting", "demonstration", "political_violence")),
			integer("events").orNull().nonNegative().amount("events"),
			integer("fatalities").orNull().nonNegative().amount("deaths"),
			period, resource),
		Filters: []Filter{is("event_type")},
		Order:   names([]string{"admin2_ref", "event_type", PeriodStart}, providers),
		// The source counts violence against civilians, and explosions and remote violence, under
		// political violence; those of them that target civilians again under civilian targeting.
		Dimensions: dimensions(
			inUnit2, fromFile, totals("event_type", total("political_violence", "civilian_targeting")), flow,
		),
		Provisional: Unfinished,
		Source:      Source{Dataset: "hdx-hapi-conflict-event", Named: matching(`(?i)Conflict Events`)},
		Public:      Public{V1: []string{"coordination-context/conflict-event"}},
	},
	{
		Path:    "coordination-context/national-risk",
		Summary: "Risk of humanitarian crises by country",
		Note:    "Risks run from 0 to 10, global_rank from 1 to 250.",
		Columns: columns(
			country,
			choice("risk_class", enum("risk_class", "1", "2", "3", "4", "5")),
			integer("global_rank").between(1, 250).neither("a rank"),
			decimal("overall_risk").between(0, 10).neither("an index"),
			decimal("hazard_exposure_risk").between(0, 10).neither("an index"),
			decimal("vulnerability_risk").between(0, 10).neither("an index"),
			decimal("coping_capacity_risk").between(0, 10).neither("an index"),
			decimal("meta_missing_indicators_pct").orNull().between(0, 100).neither("a fraction"),
			decimal("meta_avg_recentness_years").orNull().between(0, 100).in("years").neither("an age of data"),
			period, resource),
		Record: []string{
			"risk_class", "global_rank", "overall_risk", "hazard_exposure_risk", "vulnerability_risk",
			"coping_capacity_risk", "meta_missing_indicators_pct", "meta_avg_recentness_years", PeriodStart, PeriodEnd,
			resourceID, "location_code", "location_name",
		},
		Filters: []Filter{
			is("risk_class"), between("global_rank"), between("overall_risk"), between("hazard_exposure_risk"),
			between("vulnerability_risk"), between("coping_capacity_risk"),
		},
		Order:   []string{"location_ref", PeriodStart},
		Edition: &Edition{},
		Source:  Source{First: true},
	},
}
