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
	},
}
