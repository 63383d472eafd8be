package browse

import (
	"strconv"
	"strings"

	"hdqs/api/contract"
)

// What fields, parameters and values are called on pages.

// labels of fields and parameters, in the contract's names. Others are their names in words.
var labels = map[string]string{
	"location_code": "Country code", "location_name": "Country", "origin_location_code": "Origin code",
	"origin_location_name": "Origin", "asylum_location_code": "Asylum code",
	"asylum_location_name": "Country of asylum",
	"admin_level":          "Level", "admin1_code": "Province code", "admin1_name": "Province",
	"admin2_code": "District code", "admin2_name": "District",
	"provider_admin1_code": "Provider's province code", "provider_admin1_name": "Province, as the provider names it",
	"provider_admin2_code": "Provider's district code", "provider_admin2_name": "District, as the provider names it",
	"has_hrp": "Has a humanitarian response plan", "in_gho": "Is in the Global Humanitarian Overview",
	"origin_has_hrp":     "Origin has a humanitarian response plan",
	"origin_in_gho":      "Origin is in the Global Humanitarian Overview",
	"asylum_has_hrp":     "Country of asylum has a humanitarian response plan",
	"asylum_in_gho":      "Country of asylum is in the Global Humanitarian Overview",
	"from_cods":          "From the Common Operational Datasets",
	"start_date":         "Periods that end on or after",
	"end_date":           "Periods that start on or before",
	"latest":             "Only the newest",
	"everybody":          "Only records that count everybody",
	contract.PeriodStart: "Period from", contract.PeriodEnd: "Period to",
	"resource_catalog_id": "File", "min_age": "Youngest age", "max_age": "Oldest age", "age_range": "Age",
	"population": "People", "population_group": "Group", "population_status": "Status",
	"sector_name": "Sector", "org_acronym": "Organisation's short name", "org_name": "Organisation",
	"org_type_code": "Organisation type code", "org_type_description": "Type of organisation",
	"appeal_name": "Appeal", "appeal_type": "Type of appeal", "requirements_usd": "Money asked for (US$)",
	"funding_usd": "Money received (US$)", "funding_pct": "Received, of the money asked for (%)",
	"event_type": "Kind of event", "global_rank": "Rank in the world",
	"coping_capacity_risk": "Lack of coping capacity", "hazard_exposure_risk": "Hazard and exposure",
	"vulnerability_risk": "Vulnerability", "meta_missing_indicators_pct": "Missing indicators (share)",
	"meta_avg_recentness_years": "Age of the data (years)",
	"classification_phase":      "Phase", "classification_type": "Current or projected",
	"population_in_phase": "People in phase", "population_fraction_in_phase": "Share of people",
	"market_name": "Market", "commodity_name": "Commodity", "commodity_category": "Kind of commodity",
	"currency_code": "Currency", "price_flag": "Observed or computed", "price_type": "Level of trade",
	"mpi":             "Poverty index (MPI)",
	"headcount_ratio": "People in poverty (%)", "intensity_of_deprivation": "Intensity of deprivation (%)",
	"vulnerable_to_poverty": "Vulnerable to poverty (%)", "in_severe_poverty": "In severe poverty (%)",
	"aggregation_period": "Added up over", "rainfall": "Rainfall (mm)",
	"rainfall_long_term_average": "Long-term average (mm)", "rainfall_anomaly_pct": "Of the average (%)",
	"number_pixels": "Cells of the raster", "lat": "Latitude", "lon": "Longitude",
}

// parts of other names that are written otherwise in labels.
var parts = map[string]string{
	"admin1": "province", "admin2": "district", "api": "API", "hxl": "HXL", "id": "ID", "idps": "IDPs",
	"org": "organisation", "ref": "number", "stub": "short name", "url": "URL", "hdx": "HDX", "ipc": "IPC",
}

// label is the name of a field or a parameter as people say it.
func label(name string) string {
	if text, ok := labels[contract.ContractNames.Name(name)]; ok {
		return text
	}
	if base, isBound := strings.CutSuffix(name, "_min"); isBound {
		return label(base) + ", at least"
	}
	if base, isBound := strings.CutSuffix(name, "_max"); isBound {
		return label(base) + ", below"
	}
	words := strings.Split(name, "_")
	for i, word := range words {
		if other, ok := parts[word]; ok {
			words[i] = other
		}
	}
	text := strings.Join(words, " ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// nounLabel is the label of a field with codes without the word: Country, Sector.
func nounLabel(field string) string { return strings.TrimSuffix(label(field), " code") }

// worded is a value as people say it. code is the value if it is one that people quote, such as INN
// or phase 3.
func worded(field, value string) (text, code string) {
	text = contract.Words(field, value)
	switch {
	case text == "":
		return value, ""
	case strings.ToUpper(value) != value || contract.ContractNames.Name(field) == "admin_level":
		return text, ""
	}
	return text, value
}

// grouped is a number with narrow spaces between thousands, without zeros at the end of a fraction.
func grouped(text string) string {
	whole, fraction, _ := strings.Cut(text, ".")
	if strings.ContainsAny(text, "eE") {
		return text
	}
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "\u2212", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "\u202f" + whole[i:]
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		whole += "." + fraction
	}
	return sign + whole
}

// rounded is a number as people read it: with no fraction from 10 000 on, one digit of it from 100
// on, two from 1 on, and three digits that count below. exact is the number if that is another one.
func rounded(text string) (short, exact string) {
	exact = grouped(text)
	x, err := strconv.ParseFloat(text, 64)
	_, fraction, _ := strings.Cut(strings.TrimRight(text, "0"), ".")
	if err != nil || fraction == "" || strings.ContainsAny(text, "eEnN") {
		return exact, ""
	}
	digits := 2
	switch size := max(x, -x); {
	case size >= 10_000:
		digits = 0
	case size >= 100:
		digits = 1
	case size < 1:
		for digits = 3; size < 0.1 && size > 0; digits++ {
			size *= 10
		}
	}
	if digits >= len(fraction) {
		return exact, ""
	}
	return grouped(strconv.FormatFloat(x, 'f', digits, 64)), exact
}

// Number is a number as people read it.
func Number(text string) string {
	short, _ := rounded(text)
	return short
}

// Count is a count with narrow spaces between thousands.
func Count(n int) string { return grouped(strconv.Itoa(n)) }

// shortTime leaves out the time of day at which periods begin and end.
func shortTime(text string) string {
	day, clock, found := strings.Cut(text, "T")
	if found && (strings.HasPrefix(clock, "00:00:00") || strings.HasPrefix(clock, "23:59:59")) {
		return day
	}
	return strings.Replace(text, "T", " ", 1)
}

// span is a period: as a year or a month where it is a whole one.
func span(start, end string) string {
	start, end = shortTime(start), shortTime(end)
	switch {
	case end == "":
		return "since " + start
	case start == end:
		return start
	case len(start) != 10 || len(end) != 10:
	case start[:4] == end[:4] && start[4:] == "-01-01" && end[4:] == "-12-31":
		return start[:4]
	case start[:8] == end[:8] && start[8:] == "01" && end[8:] == lastDay(start):
		return start[:7]
	}
	return start + " to " + end
}

// lastDay is the last day of the month of a day.
func lastDay(day string) string {
	switch day[5:7] {
	case "02":
		if year, _ := strconv.Atoi(day[:4]); year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return "29"
		}
		return "28"
	case "04", "06", "09", "11":
		return "30"
	}
	return "31"
}
