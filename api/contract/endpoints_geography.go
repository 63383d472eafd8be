package contract

var geography = []Endpoint{
	{
		Path:    "/api/v2/geography-infrastructure/baseline-population",
		Table:   "population",
		Summary: "Population by gender and age",
		Fields:  record(geo, res, choice("gender", gender), ages, integers("population"), period),
		Place:   filters(loc, a1, a2, lvl),
		Params: filters(
			atMost(3, oneOf("gender", gender)), like("age_range", 32), between("population", Integer), flags, dates,
		),
		Key: keyOf(unit2, []string{"gender", "age_range", PeriodStart}),
		Order: []string{
			"admin2_ref", "gender", "age_range", PeriodStart, "provider_admin1_name", "provider_admin2_name",
		},
		Figures:    figures(level, ageLabels, amounts("people", "population")),
		Dimensions: dimensions(inUnit2, fromFile, genders, ageRanges, stock),
		Edition:    &Edition{},
	},
}
