package loader

import "slices"

var climateThemes = []*theme{
	{
		role:      "rainfall",
		published: Input{Dataset: "hdx-hapi-rainfall"},
		table: &table{
			name: "rainfall",
			columns: record(
				group("place", slices.Concat(unitColumns, []column{
					text("provider_admin1_code", 128).orBlank(), text("provider_admin2_code", 128).orBlank(),
				})...),
				rows(enum("aggregation_period", []string{"dekad", "1-month", "3-month"}), enum("version", []string{"final", "forecast", "preliminary"}).orNull(),
					decimal("rainfall").nonNegative(), decimal("rainfall_long_term_average").nonNegative(), decimal("rainfall_anomaly_pct"),
					integer("number_pixels").orNull().between(1, maxNumber)),
				period, resourceID),
			key: []string{
				"admin2_ref", "provider_admin1_name", "provider_admin2_name", "provider_admin1_code", "provider_admin2_code",
				"aggregation_period", "version", "reference_period_start",
			},
			order: []string{
				"admin2_ref", "aggregation_period", "reference_period_start", "version",
				"provider_admin1_name", "provider_admin2_name", "provider_admin1_code", "provider_admin2_code",
			},
		},
		steps: []step{
			readUnit2("provider_admin1_code", "provider_admin2_code"), read("aggregation_period"),
			read("rainfall"), read("rainfall_long_term_average"), read("rainfall_anomaly_pct"),
			read("number_pixels"), read("version"), readPeriod(), readIDs(),
		},
		category:    "climate",
		subcategory: "hazards-rainfall",
	},
}
