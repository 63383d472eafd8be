package loader

import (
	"regexp"

	"hdqs/loader/catalogfile"
)

var coordinationThemes = []*theme{
	{
		role:      "operational-presence",
		published: Input{Dataset: "hdx-hapi-operational-presence", First: true},
		table: &table{
			name: "operational_presence",
			columns: record(
				place2,
				group("org", text("org_acronym", 32), text("org_name", 512),
					text("org_type_code", 32).orNull(), text("org_type_description", 512).orNull()),
				sector, openPeriod, resourceID),
			key: []string{
				"admin2_ref", "provider_admin1_name", "provider_admin2_name",
				"org_acronym", "org_name", "sector_code", "reference_period_start",
			},
			order: []string{
				"admin2_ref", "org_acronym", "org_name", "sector_code", "reference_period_start",
				"provider_admin1_name", "provider_admin2_name",
			},
		},
		steps: []step{
			readUnit2(), readOrg(), readSector(true), readOpenPeriod(), readIDs(),
		},
		category: "coordination-context",
	},
	{
		role:      "funding",
		published: Input{Dataset: "hdx-hapi-funding", First: true},
		table: &table{
			name: "funding",
			columns: record(
				country,
				rows(text("appeal_code", 64).indexed(), text("appeal_name", 256), text("appeal_type", 64).orNull().indexed(),
					decimal("requirements_usd").orNull().nonNegative(), decimal("funding_usd").nonNegative(),
					decimal("funding_pct").orNull().nonNegative()), // above 100 when more was given than asked for
				period, resourceID),
			key: []string{"appeal_code", "location_ref", "reference_period_start"},
		},
		steps: []step{
			readCountry("place", ""), read("appeal_code"), read("appeal_name"),
			read("appeal_type"), read("requirements_usd"), read("funding_usd"),
			read("funding_pct"), readPeriod(), readIDs(),
		},
		category: "coordination-context",
	},
	{
		role:      "conflict-events",
		published: Input{Dataset: "hdx-hapi-conflict-event", Named: regexp.MustCompile(`(?i)Conflict Events`)},
		table: &table{
			name: "conflict_event",
			columns: record(
				place2,
				rows(enum("event_type", []string{"civilian_targeting", "demonstration", "political_violence"}),
					integer("events").orNull().nonNegative(), integer("fatalities").orNull().nonNegative()),
				period, resourceID),
			key:   []string{"admin2_ref", "provider_admin1_name", "provider_admin2_name", "event_type", "reference_period_start"},
			order: []string{"admin2_ref", "event_type", "reference_period_start", "provider_admin1_name", "provider_admin2_name"},
		},
		steps: []step{
			readUnit2(), read("event_type"), read("events"), read("fatalities"), readPeriod(),
			readIDs(),
		},
		category: "coordination-context",
	},
	{
		role:      catalogfile.RiskRole,
		published: Input{Dataset: "hdx-hapi-national-risk", First: true},
		table: &table{
			name: "national_risk",
			columns: record(
				country,
				rows(enum("risk_class", []string{"1", "2", "3", "4", "5"}), integer("global_rank").between(1, 250),
					decimal("overall_risk").between(0, 10), decimal("hazard_exposure_risk").between(0, 10),
					decimal("vulnerability_risk").between(0, 10), decimal("coping_capacity_risk").between(0, 10),
					decimal("meta_missing_indicators_pct").orNull().between(0, 100), decimal("meta_avg_recentness_years").orNull()),
				period, resourceID),
			key: []string{"location_ref", "reference_period_start"},
		},
		steps: []step{
			readCountry("place", ""), read("risk_class"), read("global_rank"),
			read("overall_risk"), read("hazard_exposure_risk"), read("vulnerability_risk"),
			read("coping_capacity_risk"), read("meta_missing_indicators_pct"),
			read("meta_avg_recentness_years"), readPeriod(), readIDs(),
		},
		category: "coordination-context",
	},
}
