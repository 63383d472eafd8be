package schema

var affected = []*List{
	{
		Path:       "affected-people/refugees-persons-of-concern",
		Table:      "refugees",
		Summary:    "Refugees and other persons of concern by origin and asylum",
		Columns:    movement,
		Record:     movementRecord,
		Filters:    []Filter{is("population_group"), between("population"), is("gender"), is("age_range")},
		Order:      movementOrder,
		Dimensions: dimensions(fromFile, anyGroup, byGender, byAge, stock, betweenTwo),
		Edition:    &Edition{Fields: []string{"population_group"}, Whole: true},
		Source:     Source{Dataset: "hdx-hapi-refugees"},
		Public:     Public{V1: []string{"affected-people/refugees"}},
	},
	{
		Path:    "affected-people/humanitarian-needs",
		Summary: "People in need by sector",
		Columns: columns(
			place2,
			group("sector", text("sector_code", 32), text("sector_name", 512).orNull()),
			text("category", 128),
			choice("population_status", enum("population_status", "AFF", "INN", "TGT", "REA", "all")),
			integer("population").people().amount("people"),
			period, resource),
		Record: names(geo, []string{resourceID, "sector_code", "category", "population_status", "population"}, dates,
			[]string{"sector_name"}),
		Filters: []Filter{
			contains("category"), contains("sector_code").several(), is("population_status"), between("population"),
			contains("sector_name"),
		},
		Order: names([]string{"admin2_ref", "category", "sector_code", "population_status", PeriodStart}, providers),
		Dimensions: dimensions(
			inUnit2, fromFile, keep("Intersectoral", overlapping("sector_code", "sector_name")),
			everybody([]string{"", "total"}, overlapping("category")), overlapping("population_status"), stock,
		),
		Edition: &Edition{Fields: []string{"population_status", "category"}},
	},
	{
		Path:    "affected-people/idps",
		Summary: "Internally displaced people",
		Columns: columns(
			place2,
			integer("reporting_round").nonNegative().label(), text("assessment_type", 0), text("operation", 0),
			integer("population").people().amount("people"),
			period, resource),
		Order: names([]string{
			"admin2_ref", "assessment_type", "reporting_round", "operation", "population", PeriodStart, PeriodEnd,
		}, providers),
		Key: names([]string{"admin2_ref"}, providers, []string{
			"assessment_type", "reporting_round", "operation", PeriodStart,
		}),
		Rounds: []string{"reporting_round"},
		Dimensions: dimensions(
			inUnit2, fromFile, overlapping("reporting_round"), overlapping("assessment_type"),
			overlapping("operation"), stock,
		),
		Edition: &Edition{},
		Source:  Source{First: true},
	},
	{
		Path:       "affected-people/returnees",
		Summary:    "People who went back",
		Columns:    movement,
		Record:     movementRecord,
		Filters:    []Filter{is("population_group"), is("gender"), like("age_range")},
		Order:      movementOrder,
		Dimensions: dimensions(fromFile, anyGroup, byGender, byAge, yearly, betweenTwo),
		Edition:    &Edition{Fields: []string{"population_group"}, Whole: true},
		Source:     Source{First: true},
	},
}

var geography = []*List{
	{
		Path:    "geography-infrastructure/baseline-population",
		Table:   "population",
		Summary: "Population by gender and age",
		Columns: columns(
			place2,
			choice("gender", genders), integer("population").people().amount("people"),
			ages, period, resource),
		Record:     names(geo, []string{resourceID, "gender", "age_range", "min_age", "max_age", "population"}, dates),
		Filters:    []Filter{is("gender").atMost(3), like("age_range"), between("population")},
		Order:      names([]string{"admin2_ref", "gender", "age_range", PeriodStart}, providers),
		Dimensions: dimensions(inUnit2, fromFile, byGender, byAge, stock),
		Edition:    &Edition{},
		Source:     Source{Dataset: "hdx-hapi-population"},
		Public:     Public{V1: []string{"population-social/population", "themes/population"}},
	},
}
