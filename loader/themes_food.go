package loader

import (
	"regexp"
	"slices"
)

var commodityCategories = []string{
	"cereals and tubers", "meat, fish and eggs", "milk and dairy", "miscellaneous food",
	"non-food", "oil and fats", "pulses and nuts", "vegetables and fruits",
}

var foodThemes = []*theme{
	{
		role:      "food-security",
		published: Input{Dataset: "hdx-hapi-food-security"},
		table: &table{
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
		steps: []step{
			readUnit2(), readAs("ipc_phase", "classification_phase"),
			readAs("ipc_type", "classification_type"), read("population_in_phase"),
			read("population_fraction_in_phase"), readPeriod(), readIDs(),
		},
		category: "food-security-nutrition-poverty",
	},
	{
		role:      "food-prices-market-monitor",
		published: Input{Dataset: "hdx-hapi-food-price", Named: regexp.MustCompile(`(?i)Food Prices \d`), Left: regexp.MustCompile(`Food Prices (19\d\d|200\d|201[0-6])$`)},
		table: &table{
			name: "food_price",
			columns: record(
				// A market has one place, so both are one tuple.
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
			key: []string{"market_code", "commodity_code", "unit", "price_flag", "price_type", "reference_period_start"},
		},
		steps: []step{
			readMarket(), readCommodity(),
			readGroup("terms", "currency_code", "unit", "price_flag", "price_type"), read("price"),
			readPeriod(), readIDs(),
		},
		category: "food-security-nutrition-poverty",
		places:   inMarket,
	},
	{
		role:      "poverty-rate",
		published: Input{Dataset: "hdx-hapi-poverty-rate", First: true},
		table: &table{
			name: "poverty_rate",
			columns: record(
				place1,
				rows(decimal("mpi"), decimal("headcount_ratio").between(0, 100), decimal("intensity_of_deprivation").orNull().between(0, 100),
					decimal("vulnerable_to_poverty").between(0, 100), decimal("in_severe_poverty").between(0, 100)),
				period, resourceID),
			key: []string{"admin1_ref", "provider_admin1_name", "reference_period_start"},
		},
		steps: []step{
			readUnit1(), read("mpi"), read("headcount_ratio"), read("intensity_of_deprivation"),
			read("vulnerable_to_poverty"), read("in_severe_poverty"), readPeriod(), readIDs(),
		},
		checks:   []step{checkPovertyIndex()},
		category: "food-security-nutrition-poverty",
	},
}
