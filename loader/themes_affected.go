package loader

var (
	genders            = []string{"f", "m", "x", "u", "o", "all"}
	populationGroups   = []string{"REF", "ROC", "ASY", "OIP", "IDP", "IOC", "STA", "OOC", "HST", "RET", "RST", "NAT", "RDP", "RRI", "all"}
	populationStatuses = []string{"AFF", "INN", "TGT", "REA", "all"}
)

var affectedThemes = []*theme{
	{
		role:      "refugees-persons-of-concern",
		published: Input{Dataset: "hdx-hapi-refugees"},
		table: &table{
			name:    "refugees",
			columns: movement,
			key:     movementKey,
		},
		steps:    movementSteps,
		category: "affected-people",
		places:   betweenPlaces,
	},
	{
		role:      "returnees",
		published: Input{Dataset: "hdx-hapi-returnees", First: true},
		table: &table{
			name:    "returnees",
			columns: movement,
			key:     movementKey,
		},
		steps:    movementSteps,
		category: "affected-people",
		places:   betweenPlaces,
	},
	{
		role:      "humanitarian-needs",
		published: Input{Dataset: "hdx-hapi-humanitarian-needs"},
		table: &table{
			name: "humanitarian_needs",
			columns: record(
				place2,
				group("sector", text("sector_code", 32), text("sector_name", 512).orNull()),
				rows(text("category", 128).indexed(), enum("population_status", populationStatuses), integer("population").nonNegative()),
				period, resourceID),
			key: []string{
				"admin2_ref", "provider_admin1_name", "provider_admin2_name",
				"category", "sector_code", "population_status", "reference_period_start",
			},
			order: []string{
				"admin2_ref", "category", "sector_code", "population_status", "reference_period_start",
				"provider_admin1_name", "provider_admin2_name",
			},
		},
		steps: []step{
			readUnit2(), readSector(false), read("category"), read("population_status"),
			read("population"), readPeriod(), readIDs(),
		},
		category: "affected-people",
	},
	{
		role:      "idps",
		published: Input{Dataset: "hdx-hapi-idps", First: true},
		table: &table{
			name: "idps",
			columns: record(
				place2,
				rows(integer("reporting_round").nonNegative(), text("assessment_type", 0), text("operation", 0), integer("population").nonNegative()),
				period, resourceID),
			key: []string{
				"admin2_ref", "provider_admin1_name", "provider_admin2_name",
				"assessment_type", "reporting_round", "operation", "reference_period_start",
			},
			order: []string{
				"admin2_ref", "assessment_type", "reporting_round", "operation", "population",
				"reference_period_start", "reference_period_end", "provider_admin1_name", "provider_admin2_name",
			},
		},
		steps: []step{
			readUnit2(), read("operation"), read("assessment_type"), read("population"),
			read("reporting_round"), readPeriod(), readIDs(),
		},
		category: "affected-people",
	},
}

// movement is people who left one country for another, or came back.
var (
	movement = record(
		group("origin", integer("origin_location_ref"), text("origin_location_code", 128), text("origin_location_name", 512),
			flag("origin_has_hrp"), flag("origin_in_gho")),
		group("asylum", integer("asylum_location_ref"), text("asylum_location_code", 128), text("asylum_location_name", 512),
			flag("asylum_has_hrp"), flag("asylum_in_gho")),
		rows(enum("population_group", populationGroups), enum("gender", genders), integer("population").nonNegative()),
		age, period, resourceID)
	movementKey = []string{
		"origin_location_ref", "asylum_location_ref", "population_group", "gender", "age_range", "reference_period_start",
	}
)

var movementSteps = []step{
	readCountry("origin", "origin_"), readCountry("asylum", "asylum_"), read("population_group"), read("gender"),
	readGroup("age", "age_range", "min_age", "max_age"), read("population"), readPeriod(), readIDs(),
}

var geographyThemes = []*theme{
	{
		role:      "baseline-population",
		published: Input{Dataset: "hdx-hapi-population"},
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
		category: "geography-infrastructure",
	},
}
