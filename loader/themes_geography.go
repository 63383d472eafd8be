package loader

var geographyThemes = []*theme{
	{
		role:      "baseline-population",
		published: published{dataset: "hdx-hapi-population"},
		table: &table{
			name: "population",
			columns: record(
				place2,
				rows(enum("gender", genders), integer("population").nonNegative()),
				age, period, resourceID),
			key: []string{"admin2_ref", "provider_admin1_name", "provider_admin2_name", "gender", "age_range", "reference_period_start"},
			order: []string{
				"admin2_ref", "gender", "age_range", "reference_period_start",
				"provider_admin1_name", "provider_admin2_name",
			},
		},
		steps: []step{
			readUnit2(), read("gender"), readGroup("age", "age_range", "min_age", "max_age"),
			read("population"), readPeriod(), readIDs(),
		},
		category:    "geography-infrastructure",
		subcategory: "baseline-population",
		places:      inPlace,
	},
}
