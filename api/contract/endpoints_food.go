package contract

var food = []Endpoint{
	{
		Path:    "/api/v2/food-security-nutrition-poverty/food-security",
		Table:   "food_security",
		Summary: "People by phase of acute food insecurity",
		Note:    "The plus of phase 3+ must be sent as %2B; a bare + is a blank.",
		Fields: record(
			geo, res, choice("classification_phase", classificationPhase), choice("classification_type", classificationType),
			integers("population_in_phase"), decimals("population_fraction_in_phase"), period,
		),
		Place: filters(loc, a1, a2, lvl),
		Params: filters(
			oneOf("classification_phase", classificationPhase), oneOf("classification_type", classificationType), flags, dates,
		),
		Key: keyOf(unit2, []string{"classification_phase", "classification_type", PeriodStart}),
		Order: []string{
			"admin2_ref", "classification_phase", "classification_type", PeriodStart, "provider_admin1_name",
			"provider_admin2_name",
		},
		Figures: figures(level, amounts("people", "population_in_phase"), neither("a fraction", "population_fraction_in_phase")),
		Dimensions: dimensions(
			inUnit2, fromFile, totals("classification_phase", total("all"), total("3+", "3", "4", "5")),
			overlapping("classification_type"), stock,
		),
		Edition: &Edition{Fields: []string{"classification_type"}},
	},
	{
		Path:    "/api/v2/food-security-nutrition-poverty/food-prices-market-monitor",
		Table:   "food_price",
		Summary: "Food prices by market and commodity",
		Fields: record(
			geo, res, text("market_code", 32), text("market_name", 512), text("commodity_code", 32), text("commodity_name", 512),
			choice("commodity_category", commodityCategory), text("currency_code", 32), text("unit", 32),
			choice("price_flag", priceFlag), choice("price_type", priceType), decimals("price"), null(decimals("lat", "lon")), period,
		),
		Place: filters(loc, a1, a2, lvl),
		Params: filters(
			like("market_code", 32), contains("market_name", 512), like("commodity_code", 32),
			oneOf("commodity_category", commodityCategory), contains("commodity_name", 512),
			oneOf("price_flag", priceFlag), oneOf("price_type", priceType), between("price", Exact), flags, dates,
		),
		Key:     []string{"market_code", "commodity_code", "unit", "price_flag", "price_type", PeriodStart},
		Order:   []string{"market_code", "commodity_code", "unit", "price_flag", "price_type", PeriodStart},
		Figures: figures(level, averaged("a price", "price"), labels("lat", "lon")),
		Dimensions: dimensions(
			inUnit2, fromFile, parts("market_code", "market_name", "lat", "lon"), alike("commodity_code", "commodity_name"),
			parts("commodity_category"), alike("currency_code"), alike("unit"), alike("price_flag"), alike("price_type"), flow,
		),
	},
	{
		Path:    "/api/v2/food-security-nutrition-poverty/poverty-rate",
		Table:   "poverty_rate",
		Summary: "Multidimensional poverty",
		Note:    "Rows stand at level 0 or 1; admin_level=2 finds nothing.",
		Fields: record(
			country, null(text("admin1_code", 128), text("admin1_name", 512)), integers("admin_level"), res,
			decimals("mpi", "headcount_ratio"), null(decimals("intensity_of_deprivation")),
			decimals("vulnerable_to_poverty", "in_severe_poverty"), period,
		),
		Place:  filters(loc, a1, lvl),
		Params: filters(between("mpi", Number), flags, dates),
		Key:    keyOf(unit1, []string{PeriodStart}),
		Order:  []string{"admin1_ref", "provider_admin1_name", PeriodStart},
		Figures: figures(
			level, neither("an index", "mpi"),
			neither("a percentage", "headcount_ratio", "intensity_of_deprivation", "vulnerable_to_poverty", "in_severe_poverty"),
		),
		Edition: &Edition{},
	},
}
