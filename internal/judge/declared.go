package judge

import (
	"slices"
	"strconv"
	"strings"
)

// What the extensions say about the records of each endpoint, by the last part of its path.

const periodStart = "reference_period_start"

// keyOf are the columns that identify a row in every load: those of the contract's order, with
// codes instead of the numbers of a load, and without what the others determine or does not
// identify.
func keyOf(e *endpoint) []string {
	var key []string
	for _, k := range slices.Concat(e.Order, e.Tie) {
		column := strings.TrimSuffix(k.Column, "_stored")
		if unit, isNumber := strings.CutSuffix(column, "_ref"); isNumber {
			column = unit + "_code"
		}
		switch {
		case column == "id":
			key = append(key, "code")
		case !slices.Contains(notInKeys, column):
			key = append(key, column)
		}
	}
	return key
}

var notInKeys = []string{
	"location_name", "admin1_name", "admin2_name", "population", "reference_period_end", "api_updated_date",
}

// seriesOf are the columns that rows have in common which differ only in their dates, nil without
// dates. The round of a count is a date: each round counts everybody anew.
func seriesOf(e *endpoint) []string {
	key := keyOf(e)
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
