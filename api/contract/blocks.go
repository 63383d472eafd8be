package contract

import (
	"hdqs/index"
)

// The enums, each in its sort order.
var (
	adminLevel          = newEnum("admin_level", "0", "1", "2")
	levelOrCoarsest     = &Enum{Name: "admin_level", Values: []string{"0", "1", "2", Coarsest}, Expected: adminLevel.Expected}
	outputFormat        = newEnum("output_format", "csv", "json")
	listFormat          = outputFormat.with("ndjson")
	pointFormat         = outputFormat.with("ndjson", "geojson")
	gender              = newEnum("gender", "f", "m", "x", "u", "o", "all")
	populationGroup     = newEnum("population_group", "REF", "ROC", "ASY", "OIP", "IDP", "IOC", "STA", "OOC", "HST", "RET", "RST", "NAT", "RDP", "RRI", "all")
	populationStatus    = newEnum("population_status", "AFF", "INN", "TGT", "REA", "all")
	eventType           = newEnum("event_type", "civilian_targeting", "demonstration", "political_violence")
	riskClass           = newEnum("risk_class", "1", "2", "3", "4", "5")
	classificationPhase = newEnum("classification_phase", "1", "2", "3", "4", "5", "3+", "all")
	classificationType  = newEnum("classification_type", "current", "first projection", "second projection")
	commodityCategory   = newEnum("commodity_category", "cereals and tubers", "meat, fish and eggs", "milk and dairy", "miscellaneous food", "non-food", "oil and fats", "pulses and nuts", "vegetables and fruits")
	priceFlag           = newEnum("price_flag", "actual", "aggregate", "actual,aggregate")
	priceType           = newEnum("price_type", "Farm Gate", "Producer", "Retail", "Wholesale")
	rainAggregation     = newEnum("aggregation_period", "dekad", "1-month", "3-month")
	rainVersion         = newEnum("version", "final", "forecast", "preliminary")
)

// Field blocks that many records share.
var (
	country = record(text("location_code", 128), text("location_name", 512))
	geo     = record(country, null(text("admin1_code", 128), text("admin1_name", 512), text("admin2_code", 128), text("admin2_name", 512)), integers("admin_level"))
	period  = times("reference_period_start", "reference_period_end")
	res     = text("resource_catalog_id", 36)
	ages    = record(text("age_range", 32), null(integers("min_age", "max_age")))

	// journey is where people come from and where they are.
	journey = record(
		text("origin_location_code", 128), text("origin_location_name", 512),
		text("asylum_location_code", 128), text("asylum_location_name", 512),
	)
)

// Filter groups that many endpoints share. Places are matched as they are stored, not as they are
// printed: the stored columns have the placeholder codes and names that records print as null.
var (
	flags = filters(flag("has_hrp"), flag("in_gho"))
	dates = []Param{
		{Name: "start_date", Type: Day, Op: index.AtLeastOrNull, Columns: []string{"reference_period_end"}},
		{Name: "end_date", Type: Day, Op: index.Below, Columns: []string{"reference_period_start"}},
	}
	loc = filters(like("location_code", 128), contains("location_name", 512))
	a1  = unit("1", "provider_admin1_name")
	a2  = unit("2", "provider_admin2_name")
	lvl = oneOf("admin_level", levelOrCoarsest)

	// onlyLevel is for lists without periods, whose rows do not contain one another.
	onlyLevel = oneOf("admin_level", adminLevel)

	// a1Unit and a2Unit are for rows that have no provider names.
	a1Unit = unit("1")
	a2Unit = unit("2")

	journeys = filters(
		like("origin_location_code", 128), contains("origin_location_name", 512), flag("origin_has_hrp"), flag("origin_in_gho"),
		like("asylum_location_code", 128), contains("asylum_location_name", 512), flag("asylum_has_hrp"), flag("asylum_in_gho"),
	)
)

// unit is the filters by an administrative unit of a level: by its code and its names.
func unit(level string, providerNames ...string) []Param {
	names := append([]string{"stored_admin" + level + "_name"}, providerNames...)
	return filters(
		on(like("admin"+level+"_code", 128), "stored_admin"+level+"_code"),
		on(contains("admin"+level+"_name", 512), names...),
	)
}

// MaxLimit is the most records of one answer, and the default limit.
const MaxLimit = 10000

// pageParams are the parameters of every list endpoint that are not filters. app_identifier is
// checked before the others (identifier.go); here only its length counts.
var pageParams = []Param{
	{Name: "limit", Type: Integer, Floor: new(int), Ceiling: new(MaxLimit), Default: "10000"},
	{Name: "offset", Type: Integer, Floor: new(int), Default: "0"},
	{Name: "app_identifier", Type: String, Max: 512},
	{Name: "output_format", Type: Choice, Enum: outputFormat, Default: "json"},
}

// Coarsest is a value of admin_level besides the levels. It keeps the rows whose place is in no
// place of another row that passes, with the same period and the same values in Nested: those of
// each country at the level that it is published at.
const Coarsest = "coarsest"
