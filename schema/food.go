package schema

var food = []*List{
	{
		Path:    "food-security-nutrition-poverty/food-security",
		Summary: "People by phase of acute food insecurity",
		Note:    "The plus of phase 3+ must be sent as %2B; a bare + is a blank.",
		Columns: columns(
			place2,
			choice("classification_phase", enum("classification_phase", "1", "2", "3", "4", "5", "3+", "all")),
			choice("classification_type",
				enum("classification_type", "current", "first projection", "second projection")),
			integer("population_in_phase").people().amount("people"),
			decimal("population_fraction_in_phase").between(0, 1).neither("a fraction"),
			period, resource),
		Filters: []Filter{is("classification_phase"), is("classification_type")},
		Order:   names([]string{"admin2_ref", "classification_phase", "classification_type", PeriodStart}, providers),
		Dimensions: dimensions(
			inUnit2, fromFile, totals("classification_phase", total("all"), total("3+", "3", "4", "5")),
			overlapping("classification_type"), stock,
		),
		Edition: &Edition{Fields: []string{"classification_type"}},
		Public:  Public{V1: []string{"food/food-security"}},
	},
	{
		Path:    "food-security-nutrition-poverty/food-prices-market-monitor",
		Table:   "food_price",
		Summary: "Food prices by market and commodity",
		Columns: columns(
			// A market has one place, so both are one tuple.
			group("market", unit2, text("market_code", 32), text("market_name", 512), point),
			group("commodity", text("commodity_code", 32), text("commodity_name", 512),
				choice("commodity_category", commodityCategories)),
			group("terms", text("currency_code", 32), text("unit", 32),
				choice("price_flag", enum("price_flag", "actual", "aggregate", "actual,aggregate")),
				choice("price_type", enum("price_type", "Farm Gate", "Producer", "Retail", "Wholesale"))),
			decimal("price").nonNegative().averaged("a price"),
			period, resource),
		Record: names(geo, []string{
			resourceID, "market_code", "market_name", "commodity_code", "commodity_name", "commodity_category",
			"currency_code", "unit", "price_flag", "price_type", "price", "lat", "lon",
		}, dates),
		Filters: []Filter{
			like("market_code"), contains("market_name"), like("commodity_code"), is("commodity_category"),
			contains("commodity_name"), is("price_flag"), is("price_type"), between("price").exact(),
		},
		Order: []string{"market_code", "commodity_code", "unit", "price_flag", "price_type", PeriodStart},
		Dimensions: dimensions(
			inUnit2, fromFile, parts("market_code", "market_name", "lat", "lon"),
			alike("commodity_code", "commodity_name"), parts("commodity_category"), alike("currency_code"),
			alike("unit"), alike("price_flag"), alike("price_type"), flow,
		),
		Source: Source{
			Dataset: "hdx-hapi-food-price", Named: matching(`(?i)Food Prices \d`),
			Left: matching(`Food Prices (19\d\d|200\d|201[0-6])$`),
		},
		Public: Public{V1: []string{"food/food-price"}},
	},
	{
		Path:    "food-security-nutrition-poverty/poverty-rate",
		Summary: "Multidimensional poverty",
		Note:    "Rows stand at level 0 or 1; admin_level=2 finds nothing.",
		Columns: columns(
			place1,
			decimal("mpi").between(0, 1).neither("an index"),
			decimal("headcount_ratio").between(0, 100).in("%").neither("a percentage"),
			decimal("intensity_of_deprivation").orNull().between(0, 100).in("%").neither("a percentage"),
			decimal("vulnerable_to_poverty").between(0, 100).in("%").neither("a percentage"),
			decimal("in_severe_poverty").between(0, 100).in("%").neither("a percentage"),
			period, resource),
		Filters: []Filter{between("mpi")},
		Order:   []string{"admin1_ref", "provider_admin1_name", PeriodStart},
		Edition: &Edition{},
		Source:  Source{First: true},
		Public:  Public{V1: []string{"population-social/poverty-rate"}},
	},
}
