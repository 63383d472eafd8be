package schema

var metadata = []*List{
	{
		Path:    "metadata/dataset",
		Summary: "Datasets of the catalog that records were taken from",
		Columns: columns(
			text("dataset_catalog_id", 36), text("dataset_catalog_stub", 128), text("dataset_catalog_title", 1024),
			text("catalog_provider_stub", 128), text("catalog_provider_name", 512),
			link, uri("provider_catalog_link"), uri("provider_catalog_api_link")),
		Filters: []Filter{
			is("dataset_catalog_id"), is("dataset_catalog_stub"), contains("dataset_catalog_title"),
			like("catalog_provider_stub"), contains("catalog_provider_name"),
		},
		Order: []string{"dataset_catalog_id"},
	},
	{
		Path:    "metadata/resource",
		Summary: "Resources (files) of the catalog that records were taken from",
		Note:    "dataset_catalog_provider_name must be the whole name here; the dataset list matches a part of it.",
		Columns: columns(
			text("resource_catalog_id", 36), text("dataset_catalog_id", 36), text("name", 256), text("format", 32),
			instant("update_date"), flag("is_hxl"), uri("download_url"), instant("api_updated_date"),
			text("dataset_catalog_stub", 128), text("dataset_catalog_title", 1024),
			text("dataset_catalog_provider_stub", 128), text("dataset_catalog_provider_name", 512),
			link, uri("dataset_catalog_link"), uri("dataset_catalog_api_link"),
			uri("provider_catalog_link"), uri("provider_catalog_api_link")),
		Filters: []Filter{
			is("resource_catalog_id"), is("format"), between("update_date"), only("is_hxl"), is("dataset_catalog_id"),
			is("dataset_catalog_stub"), contains("dataset_catalog_title"), like("dataset_catalog_provider_stub"),
			only("dataset_catalog_provider_name"),
		},
		Order:  []string{"resource_catalog_id"},
		Public: Public{Noun: "resources"},
	},
	{
		Path:    "metadata/location",
		Summary: "Locations (countries)",
		Columns: columns(
			integer("id").label(), text("code", 128), text("name", 512), flag("has_hrp"), flag("in_gho"),
			flag("from_cods"), openPeriod, classes),
		Filters: []Filter{is("id"), like("code"), contains("name"), only("has_hrp"), only("in_gho")},
		Order:   []string{"id"},
		Source:  Source{Role: "location"},
	},
	{
		Path:    "metadata/admin1",
		Summary: "First-level administrative units",
		Columns: columns(
			integer("id").label(), text("code", 128), text("name", 512), flag("from_cods"), location, openPeriod),
		Record: []string{
			"id", "location_ref", "code", "name", "from_cods", PeriodStart, PeriodEnd, "location_code", "location_name",
		},
		Filters: []Filter{
			is("id"), is("location_ref"), like("code"), contains("name"), like("location_code"),
			contains("location_name"),
		},
		Order: []string{"id"},
		Source: Source{
			Role: "pcodes", Dataset: "global-pcodes", Named: matching(`(?i)^global_pcodes_adm_1_2`),
			Left: matching(`^(global_pcodes|global_pcode_lengths)\.csv$`), First: true,
		},
	},
	{
		Path:    "metadata/admin2",
		Summary: "Second-level administrative units",
		Columns: columns(
			integer("id").label(), text("code", 128), text("name", 512), flag("from_cods"),
			group("admin1", integer("admin1_ref").label(), text("admin1_code", 128), text("admin1_name", 512)),
			location, openPeriod),
		Record: []string{
			"id", "admin1_ref", "code", "name", "from_cods", PeriodStart, PeriodEnd, "admin1_code", "admin1_name",
			"location_code", "location_name", "location_ref",
		},
		Filters: []Filter{
			is("id"), is("admin1_ref"), is("location_ref"), like("code"), contains("name"), like("admin1_code"),
			contains("admin1_name"), like("location_code"), contains("location_name"),
		},
		Order: []string{"id"},
	},
	{
		Path:    "metadata/currency",
		Summary: "Currencies",
		Columns: columns(text("code", 32), text("name", 512)),
		Filters: []Filter{like("code")},
		Order:   []string{"code"},
		Source: Source{
			Role: "currency", Dataset: "hdx-hapi-food-price", Named: matching(`(?i)Currencies`), First: true,
		},
	},
	{
		Path:    "metadata/org",
		Summary: "Organisations",
		Columns: columns(text("acronym", 32), text("name", 512),
			text("org_type_code", 32).orNull(), text("org_type_description", 512).orNull()),
		Filters: []Filter{like("acronym"), contains("name"), is("org_type_code"), contains("org_type_description")},
		Order:   []string{"acronym", "name"},
		Source:  Source{Role: "org", Dataset: "hdx-hapi-organisations", First: true},
	},
	{
		Path:    "metadata/org-type",
		Summary: "Types of organisation",
		Columns: columns(text("code", 32).from("HR.info ID"), text("description", 512).from("Preferred Term")),
		Filters: []Filter{is("code"), contains("description")},
		Order:   []string{"code"},
		Source: Source{
			Role: "org-type", Dataset: "organization-types-beta", Named: matching(`(?i)CSV no HXL`),
			Left: otherForms, First: true, Optional: true,
		},
	},
	{
		Path:    "metadata/sector",
		Summary: "Sectors of humanitarian work",
		Note:    "code must be the whole code here; the data endpoints match a part of sector_code.",
		Columns: columns(text("code", 32).from("ACRONYM"), text("name", 512).from("Preferred Term")),
		Filters: []Filter{like("code"), contains("name")},
		Order:   []string{"code"},
		Source: Source{
			Role: "sector", Dataset: "global-coordination-groups-beta", Named: matching(`(?i)CSV no HXL`),
			Left: otherForms, First: true, Optional: true,
		},
	},
	{
		Path:    "metadata/agency-commodity",
		Table:   "commodity",
		Summary: "Commodities of the price monitor",
		Note:    "Codes are strings: 9 sorts after 10.",
		Columns: columns(text("code", 32), choice("category", commodityCategories), text("name", 512)),
		Filters: []Filter{like("code"), is("category"), contains("name")},
		Order:   []string{"code"},
		Source: Source{
			Role: "commodity", Dataset: "hdx-hapi-food-price", Named: matching(`(?i)Commodities`), First: true,
		},
		Public: Public{V2: []string{"metadata/wfp-commodity"}, Noun: "wfp_commodities"},
	},
	{
		Path:    "metadata/agency-market",
		Table:   "market",
		Summary: "Markets of the price monitor",
		Columns: columns(place2, text("code", 32).from("market_code"), text("name", 512).from("market_name"), point),
		Filters: []Filter{like("code"), contains("name")},
		Order:   []string{"code"},
		Source: Source{
			Role: "market", Dataset: "hdx-hapi-food-price", Named: matching(`(?i)Markets`), First: true,
		},
		Public: Public{V2: []string{"metadata/wfp-market"}, Noun: "wfp_market"},
	},
	{
		Path:    "metadata/data-availability",
		Summary: "What the data endpoints hold, by place and date of update",
		Note:    "Rows have no provider names, so the names of admin units match stored names only.",
		Columns: columns(
			text("category", 128), text("subcategory", 128), instant("api_updated_date").indexed(),
			group(placeGroup, codeAndName, stored1, stored2, shown1, shown2, level)),
		Filters: []Filter{like("category"), like("subcategory"), between("api_updated_date")},
		Order: []string{
			"category", "subcategory", "location_name", "location_code", "stored_admin1_name", "stored_admin1_code",
			"stored_admin2_name", "stored_admin2_code", "admin_level", "api_updated_date",
		},
		// A place has one row for each file with rows about it. Without the date, a file that was
		// updated is a changed row.
		Key: []string{
			"category", "subcategory", "location_code", "stored_admin1_code", "stored_admin2_code", "admin_level",
		},
		KeepAll: true,
	},
}

var location = group("location", integer("location_ref").label(), codeAndName)

// otherForms match tables of the datasets of lists that no role need take: the same rows in other
// forms or without their names, and those with a row of hashtags.
var otherForms = matching(`^(Organization Types|Global Coordination Groups) \(Beta\) (- )?(CSV|Google Sheet|JSON)$`)
