package judge

import (
	"slices"
	"strconv"
	"strings"
)

// What the extensions say about the records of each endpoint, by the last part of its path.

// units are the columns that place a row: the codes of the lowest unit, and the provider's names.
var (
	unit2 = []string{"admin2_code", "provider_admin1_name", "provider_admin2_name"}
	unit1 = []string{"admin1_code", "provider_admin1_name"}
)

// keys are the columns that identify a row in every load.
var keys = map[string][]string{
	"dataset":           {"dataset_catalog_id"},
	"resource":          {"resource_catalog_id"},
	"location":          {"code"},
	"admin1":            {"code"},
	"admin2":            {"code"},
	"currency":          {"code"},
	"org":               {"acronym", "name"},
	"org-type":          {"code"},
	"sector":            {"code"},
	"agency-commodity":  {"code"},
	"agency-market":     {"code"},
	"data-availability": {"category", "subcategory", "location_code", "admin1_code", "admin2_code", "admin_level"},

	"operational-presence":        append(slices.Clone(unit2), "org_acronym", "org_name", "sector_code", periodStart),
	"funding":                     {"appeal_code", "location_code", periodStart},
	"conflict-events":             append(slices.Clone(unit2), "event_type", periodStart),
	"national-risk":               {"location_code", periodStart},
	"refugees-persons-of-concern": journey,
	"returnees":                   journey,
	"humanitarian-needs": append(slices.Clone(unit2), "category", "sector_code", "population_status",
		periodStart),
	"idps": append(slices.Clone(unit2), "assessment_type", "reporting_round", "operation",
		periodStart),
	"food-security": append(slices.Clone(unit2), "classification_phase", "classification_type", periodStart),
	"food-prices-market-monitor": {
		"market_code", "commodity_code", "unit", "price_flag", "price_type", periodStart,
	},
	"poverty-rate": append(slices.Clone(unit1), periodStart),
	"rainfall": append(slices.Clone(unit2), "provider_admin1_code", "provider_admin2_code", "aggregation_period",
		"version", periodStart),
	"baseline-population": append(slices.Clone(unit2), "gender", "age_range", periodStart),
}

const periodStart = "reference_period_start"

var journey = []string{
	"origin_location_code", "asylum_location_code", "population_group", "gender", "age_range", periodStart,
}

// seriesOf are the columns that rows have in common which differ only in their dates, nil without
// dates. The round of a count is a date: each round counts everybody anew.
func seriesOf(e *endpoint) []string {
	key := keys[lastPart(e.Path)]
	if !slices.Contains(key, periodStart) {
		return nil
	}
	var series []string
	for _, column := range key {
		if column != periodStart && column != "reporting_round" {
			series = append(series, column)
		}
	}
	return series
}

// additive are the fields with people, events, deaths and money, wherever they occur.
var additive = []string{"population", "events", "fatalities", "requirements_usd", "funding_usd", "population_in_phase"}

// averaged are further fields whose mean has a meaning: prices and rainfall.
var averaged = []string{"price", "rainfall", "rainfall_long_term_average"}

// overlapping are the fields of each endpoint over which figures are never added, since their
// values count the same people.
var overlapping = map[string][]string{
	"humanitarian-needs": {"population_status", "sector_code", "category"},
	"food-security":      {"classification_type"},
	"idps":               {"assessment_type", "reporting_round", "operation"},
}

// stocks are the endpoints whose figures count everything anew in each period.
var stocks = []string{
	"baseline-population", "idps", "refugees-persons-of-concern", "humanitarian-needs", "food-security",
}

// alike are the fields that figures to be averaged must have in common.
var alike = map[string][]string{
	"food-prices-market-monitor": {"commodity_code", "currency_code", "unit", "price_flag", "price_type"},
	"rainfall":                   {"aggregation_period", "version"},
}

// contains reports whether one value of a field counts what another one counts too.
func contains(field, whole, part string) bool {
	if whole == part {
		return false
	}
	switch field {
	case "gender", "population_group":
		return whole == "all"
	case "classification_phase":
		return whole == "all" || whole == "3+" && strings.Contains("345", part)
	case "event_type":
		return whole == "political_violence" && part == "civilian_targeting"
	case "age_range":
		return whole == "all" || overlaps(whole, part)
	}
	return false
}

// withTotals are the fields of which some values contain others.
var withTotals = []string{"gender", "age_range", "population_group", "classification_phase", "event_type"}

// overlaps reports whether two ranges of ages, such as 0-4, 5 and 80+, share an age. What is no
// range may have any age.
func overlaps(a, b string) bool {
	fromA, toA, okA := ages(a)
	fromB, toB, okB := ages(b)
	return !okA || !okB || fromA <= toB && fromB <= toA
}

func ages(text string) (from, to int, ok bool) {
	low, high, isRange := strings.Cut(text, "-")
	if open, isOpen := strings.CutSuffix(text, "+"); isOpen {
		low, high = open, "1000"
	} else if !isRange {
		high = low
	}
	from, errFrom := strconv.Atoi(low)
	to, errTo := strconv.Atoi(high)
	return from, to, errFrom == nil && errTo == nil
}
