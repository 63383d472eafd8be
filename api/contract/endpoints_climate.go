package contract

var climate = []Endpoint{
	{
		Path:    "/api/v2/climate/rainfall",
		Table:   "rainfall",
		Summary: "Rainfall and its long-term average",
		Fields: record(
			geo, res, choice("aggregation_period", rainAggregation),
			null(text("provider_admin1_code", 128), text("provider_admin2_code", 128)),
			decimals("rainfall", "rainfall_long_term_average", "rainfall_anomaly_pct"),
			null(integers("number_pixels"), choice("version", rainVersion)), period,
		),
		Place: filters(loc, a1, a2, lvl),
		Params: filters(
			atMost(12, oneOf("aggregation_period", rainAggregation)), atMost(16, oneOf("version", rainVersion)), flags, dates,
		),
		Key: keyOf(unit2, []string{
			"provider_admin1_code", "provider_admin2_code", "aggregation_period", "version", PeriodStart,
		}),
		Order: []string{
			"admin2_ref", "aggregation_period", PeriodStart, "version", "provider_admin1_name", "provider_admin2_name",
			"provider_admin1_code", "provider_admin2_code",
		},
		Figures: figures(
			level, averaged("a depth of rain, averaged over an area", "rainfall", "rainfall_long_term_average"),
			neither("a percentage", "rainfall_anomaly_pct"), neither("the size of a unit on a raster", "number_pixels"),
		),
		Dimensions: dimensions(
			inUnit2, fromFile, alike("aggregation_period"), parts("provider_admin1_code"), parts("provider_admin2_code"),
			alike("version"), flow,
		),
		Edition:     &Edition{Fields: []string{"aggregation_period", "version"}},
		Provisional: NotFinal,
	},
}
