package schema

const rain = "a depth of rain, averaged over an area"

var climate = []*List{
	{
		Path:    "climate/rainfall",
		Summary: "Rainfall and its long-term average",
		Columns: columns(
			group(placeGroup, unit2,
				text("provider_admin1_code", 128).orBlank(), text("provider_admin2_code", 128).orBlank()),
			choice("aggregation_period", enum("aggregation_period", "dekad", "1-month", "3-month")),
			choice("version", enum("version", "final", "forecast", "preliminary")).orNull(),
			decimal("rainfall").nonNegative().in("mm").averaged(rain),
			decimal("rainfall_long_term_average").nonNegative().in("mm").averaged(rain),
			decimal("rainfall_anomaly_pct").atLeast(-100).in("%").neither("a percentage"),
			integer("number_pixels").orNull().atLeast(1).neither("the size of a unit on a raster"),
			period, resource),
		Record: names(geo, []string{
			resourceID, "aggregation_period", "provider_admin1_code", "provider_admin2_code", "rainfall",
			"rainfall_long_term_average", "rainfall_anomaly_pct", "number_pixels", "version",
		}, dates),
		Filters: []Filter{is("aggregation_period").atMost(12), is("version").atMost(16)},
		Order: names([]string{"admin2_ref", "aggregation_period", PeriodStart, "version"}, providers,
			[]string{"provider_admin1_code", "provider_admin2_code"}),
		Dimensions: dimensions(
			inUnit2, fromFile, alike("aggregation_period"), parts("provider_admin1_code"),
			parts("provider_admin2_code"), alike("version"), flow,
		),
		Edition:     &Edition{Fields: []string{"aggregation_period", "version"}},
		Provisional: NotFinal,
		Source:      Source{Subcategory: "hazards-rainfall"},
		Public:      Public{V2: []string{"climate/rainfall", "climate/hazards-rainfall"}}, // clients use both
	},
}
