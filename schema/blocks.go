package schema

// The columns of the period of a row.
const (
	PeriodStart = "reference_period_start"
	PeriodEnd   = "reference_period_end"
)

// Names that blocks and defaults share.
const (
	resourceID  = "resource_catalog_id"
	placeGroup  = "place"
	periodGroup = "period"
)

// Enumerations of several lists.
var (
	genders          = enum("gender", "f", "m", "x", "u", "o", "all")
	populationGroups = enum("population_group",
		"REF", "ROC", "ASY", "OIP", "IDP", "IOC", "STA", "OOC", "HST", "RET", "RST", "NAT", "RDP", "RRI", "all")
	commodityCategories = enum("commodity_category",
		"cereals and tubers", "meat, fish and eggs", "milk and dairy", "miscellaneous food",
		"non-food", "oil and fats", "pulses and nuts", "vegetables and fruits")
)

// Blocks of columns of several lists.
var (
	resource   = text(resourceID, 36).indexed()
	period     = group(periodGroup, instant(PeriodStart), instant(PeriodEnd))
	openPeriod = group(periodGroup, instant(PeriodStart), instant(PeriodEnd).orNull())
	ages       = group("age", text("age_range", 32), integer("min_age").orNull().nonNegative().in("years").label(),
		integer("max_age").orNull().nonNegative().in("years").label())
	point = columns(decimal("lat").orNull().between(-90, 90).in("degrees").label(),
		decimal("lon").orNull().between(-180, 180).in("degrees").label())
	link = columns(uri("catalog_link"), uri("catalog_api_link"))

	// country is a place that is only a country.
	country = group(placeGroup, integer("location_ref").hidden(), codeAndName, marks)

	codeAndName = columns(text("location_code", 128), text("location_name", 512))
	marks       = columns(flag("has_hrp").hidden(), flag("in_gho").hidden())

	// place2 is a place down to level 2: the stored unit and its parents, what prints of them, and
	// what the provider called it. place1 is the same down to level 1.
	place2 = group(placeGroup, unit2)
	place1 = group(placeGroup, hidden(columns(integer("admin1_ref"), integer("location_ref"))),
		codeAndName, marks, stored1, text("provider_admin1_name", 512).hidden(), shown1, level)

	unit2 = columns(hidden(columns(integer("admin2_ref"), integer("admin1_ref"), integer("location_ref"))),
		codeAndName, marks, stored1, stored2,
		hidden(columns(text("provider_admin1_name", 512), text("provider_admin2_name", 512))), shown1, shown2, level)

	stored1 = hidden(columns(text("stored_admin1_code", 128), text("stored_admin1_name", 512)))
	stored2 = hidden(columns(text("stored_admin2_code", 128), text("stored_admin2_name", 512)))
	shown1  = columns(text("admin1_code", 128).orNull(), text("admin1_name", 512).orNull())
	shown2  = columns(text("admin2_code", 128).orNull(), text("admin2_name", 512).orNull())
	level   = integer("admin_level").label()

	// classes are the groups of countries that a country is in, as its list names them, and its
	// names in languages that only that list has. Lists and snapshots may lack all of them.
	classes = addedGroup("classes", text("region", 128), text("subregion", 128), text("intermediate_region", 128),
		text("income_group", 128), text("name_ru", 512), text("name_zh", 512))

	// movement is people who left one country for another, or came back.
	movement = columns(
		group("origin", integer("origin_location_ref").hidden(), text("origin_location_code", 128),
			text("origin_location_name", 512), flag("origin_has_hrp").hidden(), flag("origin_in_gho").hidden()),
		group("asylum", integer("asylum_location_ref").hidden(), text("asylum_location_code", 128),
			text("asylum_location_name", 512), flag("asylum_has_hrp").hidden(), flag("asylum_in_gho").hidden()),
		choice("population_group", populationGroups), choice("gender", genders),
		integer("population").people().amount("people"), ages, period, resource)
)

// UnitColumns are the columns of a place down to level 2.
var UnitColumns = func() []string {
	all := make([]string, len(unit2))
	for i := range unit2 {
		all[i] = unit2[i].Name
	}
	return all
}()

// Names of records and orders of several lists.
var (
	geo = []string{
		"location_code", "location_name", "admin1_code", "admin1_name", "admin2_code", "admin2_name", "admin_level",
	}
	dates     = []string{PeriodStart, PeriodEnd}
	providers = []string{"provider_admin1_name", "provider_admin2_name"}

	movementRecord = []string{
		resourceID, "population_group", "gender", "age_range", "min_age", "max_age", "population",
		PeriodStart, PeriodEnd,
		"origin_location_code", "origin_location_name", "asylum_location_code", "asylum_location_name",
	}
	movementOrder = []string{
		"origin_location_ref", "asylum_location_ref", "population_group", "gender", "age_range", PeriodStart,
	}
)
