package contract

var affected = []Endpoint{
	{
		Path:    "/api/v2/affected-people/refugees-persons-of-concern",
		Table:   "refugees",
		Summary: "Refugees and other persons of concern by origin and asylum",
		Fields: record(
			res, choice("population_group", populationGroup), choice("gender", gender), ages, integers("population"), period, journey,
		),
		Params: filters(
			oneOf("population_group", populationGroup), between("population", Integer), oneOf("gender", gender),
			is("age_range", 32), journeys, dates,
		),
		Key:        journeyKey,
		Order:      journeyOrder,
		Figures:    figures(amounts("people", "population"), ageLabels),
		Dimensions: dimensions(fromFile, anyGroup, genders, ageRanges, stock, betweenTwo),
		Edition:    &Edition{Fields: []string{"population_group"}, Whole: true},
	},
	{
		Path:    "/api/v2/affected-people/humanitarian-needs",
		Table:   "humanitarian_needs",
		Summary: "People in need by sector",
		Fields: record(
			geo, res, text("sector_code", 32), text("category", 128), choice("population_status", populationStatus),
			integers("population"), period, null(text("sector_name", 512)),
		),
		Place: filters(loc, a1, a2, lvl),
		Params: filters(
			contains("category", 128), several(contains("sector_code", 32)), oneOf("population_status", populationStatus),
			between("population", Integer), contains("sector_name", 512), flags, dates,
		),
		Key: keyOf(unit2, []string{"category", "sector_code", "population_status", PeriodStart}),
		Order: []string{
			"admin2_ref", "category", "sector_code", "population_status", PeriodStart, "provider_admin1_name",
			"provider_admin2_name",
		},
		Figures: figures(level, amounts("people", "population")),
		Dimensions: dimensions(
			inUnit2, fromFile, keep("Intersectoral", overlapping("sector_code", "sector_name")),
			everybody([]string{"", "total"}, overlapping("category")), overlapping("population_status"), stock,
		),
		Edition: &Edition{Fields: []string{"population_status", "category"}},
	},
	{
		Path:    "/api/v2/affected-people/idps",
		Table:   "idps",
		Summary: "Internally displaced people",
		Fields: record(
			geo, res, integers("reporting_round"), text("assessment_type", 0), text("operation", 0), integers("population"), period,
		),
		Place:  filters(loc, a1, a2, lvl),
		Params: filters(flags, dates),
		Key:    keyOf(unit2, []string{"assessment_type", "reporting_round", "operation", PeriodStart}),
		Order: []string{
			"admin2_ref", "assessment_type", "reporting_round", "operation", "population", PeriodStart, PeriodEnd,
			"provider_admin1_name", "provider_admin2_name",
		},
		Rounds:  []string{"reporting_round"},
		Figures: figures(level, labels("reporting_round"), amounts("people", "population")),
		Dimensions: dimensions(
			inUnit2, fromFile, overlapping("reporting_round"), overlapping("assessment_type"), overlapping("operation"), stock,
		),
		Edition: &Edition{},
	},
	{
		Path:    "/api/v2/affected-people/returnees",
		Table:   "returnees",
		Summary: "People who went back",
		Fields: record(
			res, choice("population_group", populationGroup), choice("gender", gender), ages, integers("population"), period, journey,
		),
		Params: filters(
			oneOf("population_group", populationGroup), oneOf("gender", gender), like("age_range", 32), journeys, dates,
		),
		Key:        journeyKey,
		Order:      journeyOrder,
		Figures:    figures(amounts("people", "population"), ageLabels),
		Dimensions: dimensions(fromFile, anyGroup, genders, ageRanges, yearly, betweenTwo),
		Edition:    &Edition{Fields: []string{"population_group"}, Whole: true},
	},
}
