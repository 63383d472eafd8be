package loader

import "slices"

var commodityCategories = []string{
	"cereals and tubers", "meat, fish and eggs", "milk and dairy", "miscellaneous food",
	"non-food", "oil and fats", "pulses and nuts", "vegetables and fruits",
}

var foodTables = []*table{
	{
		name: "food_security",
		columns: record(
			place2,
			rows(enum("classification_phase", []string{"1", "2", "3", "4", "5", "3+", "all"}),
				enum("classification_type", []string{"current", "first projection", "second projection"}),
				integer("population_in_phase").nonNegative(), decimal("population_fraction_in_phase").between(0, 1)),
			period, resourceID),
		key: []string{
			"admin2_ref", "provider_admin1_name", "provider_admin2_name",
			"classification_phase", "classification_type", "reference_period_start",
		},
		order: []string{
			"admin2_ref", "classification_phase", "classification_type", "reference_period_start",
			"provider_admin1_name", "provider_admin2_name",
		},
	},
	{
		name: "food_price",
		columns: record(
			// The market tells the place, so both are one tuple.
			group("market", slices.Concat(unitColumns, []column{
				text("market_code", 32), text("market_name", 512),
				decimal("lat").orNull().between(-90, 90), decimal("lon").orNull().between(-180, 180),
			})...),
			group("commodity", text("commodity_code", 32), text("commodity_name", 512), enum("commodity_category", commodityCategories)),
			group("terms", text("currency_code", 32), text("unit", 32),
				enum("price_flag", []string{"actual", "aggregate", "actual,aggregate"}),
				enum("price_type", []string{"Farm Gate", "Producer", "Retail", "Wholesale"})),
			rows(decimal("price").nonNegative()),
			period, resourceID),
		key:   []string{"market_code", "commodity_code", "unit", "price_flag", "price_type", "reference_period_start"},
		order: []string{"market_code", "commodity_code", "unit", "price_flag", "price_type", "reference_period_start"},
	},
	{
		name: "poverty_rate",
		columns: record(
			place1,
			rows(decimal("mpi"), decimal("headcount_ratio").between(0, 100), decimal("intensity_of_deprivation").orNull().between(0, 100),
				decimal("vulnerable_to_poverty").between(0, 100), decimal("in_severe_poverty").between(0, 100)),
			period, resourceID),
		key:   []string{"admin1_ref", "provider_admin1_name", "reference_period_start"},
		order: []string{"admin1_ref", "provider_admin1_name", "reference_period_start"},
	},
}
