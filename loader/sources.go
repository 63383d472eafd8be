package loader

// source declares how the files of one role become the rows of one table: steps, each of which reads some cells of a row and sets
// some columns. Cells are found by the names in a file's header only, so the order of columns is free.
type source struct {
	role  string
	table string
	steps []step

	// joinedBy names the columns by which other sources look rows of this one up; nil for sources that nobody joins.
	joinedBy []string
}

// lists are the sources that others join, in the order in which they are read. The lists of locations and of units come before
// them and have readers of their own.
var lists = []*source{
	{role: "org-type", table: "org_type", joinedBy: []string{"code"}, steps: []step{
		readAs("HR.info ID", "code"), readAs("Preferred Term", "description"),
	}},
	{role: "sector", table: "sector", joinedBy: []string{"code"}, steps: []step{
		readAs("ACRONYM", "code"), readAs("Preferred Term", "name"),
	}},
	{role: "currency", table: "currency", steps: []step{read("code"), read("name")}},
	{role: "commodity", table: "commodity", joinedBy: []string{"code"}, steps: []step{
		read("code"), read("category"), read("name"),
	}},
	{role: "org", table: "org", joinedBy: []string{"acronym", "name"}, steps: []step{
		read("acronym"), read("name"), readOrgType(),
	}},
	{role: "market", table: "market", joinedBy: []string{"code"}, steps: []step{
		readUnit2(), readAs("market_code", "code"), readAs("market_name", "name"), read("lat"), read("lon"),
	}},
}

// themes are the sources of the data endpoints.
var themes = []*source{
	{role: "operational-presence", table: "operational_presence", steps: []step{
		readUnit2(), readOrg(), readSector("sector_name"), readOpenPeriod(), readIDs(),
	}},
	{role: "funding", table: "funding", steps: []step{
		readCountry("place", ""), read("appeal_code"), read("appeal_name"), read("appeal_type"),
		read("requirements_usd"), read("funding_usd"), read("funding_pct"), readPeriod(), readIDs(),
	}},
	{role: "conflict-events", table: "conflict_event", steps: []step{
		readUnit2(), read("event_type"), read("events"), read("fatalities"), readPeriod(), readIDs(),
	}},
	{role: "national-risk", table: "national_risk", steps: []step{
		readCountry("place", ""), read("risk_class"), read("global_rank"), read("overall_risk"), read("hazard_exposure_risk"),
		read("vulnerability_risk"), read("coping_capacity_risk"), read("meta_missing_indicators_pct"),
		read("meta_avg_recentness_years"), readPeriod(), readIDs(),
	}},
	{role: "refugees-persons-of-concern", table: "refugees", steps: movementSteps},
	{role: "returnees", table: "returnees", steps: movementSteps},
	{role: "humanitarian-needs", table: "humanitarian_needs", steps: []step{
		readUnit2(), readSector(""), read("category"), read("population_status"), read("population"), readPeriod(), readIDs(),
	}},
	{role: "idps", table: "idps", steps: []step{
		readUnit2(), read("operation"), read("assessment_type"), read("population"), read("reporting_round"), readPeriod(), readIDs(),
	}},
	{role: "food-security", table: "food_security", steps: []step{
		readUnit2(), readAs("ipc_phase", "classification_phase"), readAs("ipc_type", "classification_type"),
		read("population_in_phase"), read("population_fraction_in_phase"), readPeriod(), readIDs(),
	}},
	{role: "food-prices-market-monitor", table: "food_price", steps: []step{
		readMarket(), readCommodity(), readGroup("terms", "currency_code", "unit", "price_flag", "price_type"),
		read("price"), readPeriod(), readIDs(),
	}},
	{role: "poverty-rate", table: "poverty_rate", steps: []step{
		readUnit1(), read("mpi"), read("headcount_ratio"), read("intensity_of_deprivation"), read("vulnerable_to_poverty"),
		read("in_severe_poverty"), readPeriod(), readIDs(), checkIndex(),
	}},
	{role: "rainfall", table: "rainfall", steps: []step{
		readUnit2("provider_admin1_code", "provider_admin2_code"), read("aggregation_period"), read("rainfall"),
		read("rainfall_long_term_average"), read("rainfall_anomaly_pct"), read("number_pixels"), read("version"),
		readPeriod(), readIDs(),
	}},
	{role: "baseline-population", table: "population", steps: []step{
		readUnit2(), read("gender"), readGroup("age", "age_range", "min_age", "max_age"), read("population"), readPeriod(), readIDs(),
	}},
}

// movementSteps read a row about people from one country in another.
var movementSteps = []step{
	readCountry("origin", "origin_"), readCountry("asylum", "asylum_"), read("population_group"), read("gender"),
	readGroup("age", "age_range", "min_age", "max_age"), read("population"), readPeriod(), readIDs(),
}

// themeOf finds the theme of a role, nil when there is none.
func themeOf(role string) *source {
	for _, s := range themes {
		if s.role == role {
			return s
		}
	}
	return nil
}
