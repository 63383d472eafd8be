package contract

var metadata = []Endpoint{
	{
		Path:    "/api/v2/metadata/dataset",
		Table:   "dataset",
		Summary: "Datasets of the catalog that records were taken from",
		Fields: record(
			text("dataset_catalog_id", 36), text("dataset_catalog_stub", 128), text("dataset_catalog_title", 1024),
			text("catalog_provider_stub", 128), text("catalog_provider_name", 512),
			uris("catalog_link", "catalog_api_link", "provider_catalog_link", "provider_catalog_api_link"),
		),
		Params: filters(
			is("dataset_catalog_id", 36), is("dataset_catalog_stub", 128), contains("dataset_catalog_title", 1024),
			like("catalog_provider_stub", 128), contains("catalog_provider_name", 512),
		),
	},
	{
		Path:    "/api/v2/metadata/resource",
		Table:   "resource",
		Summary: "Resources (files) of the catalog that records were taken from",
		Note:    "dataset_catalog_provider_name must be the whole name here; the dataset list matches a part of it.",
		Fields: record(
			text("resource_catalog_id", 36), text("dataset_catalog_id", 36), text("name", 256), text("format", 32),
			times("update_date"), booleans("is_hxl"), uris("download_url"), times("api_updated_date"),
			text("dataset_catalog_stub", 128), text("dataset_catalog_title", 1024),
			text("dataset_catalog_provider_stub", 128), text("dataset_catalog_provider_name", 512),
			uris("catalog_link", "catalog_api_link", "dataset_catalog_link", "dataset_catalog_api_link",
				"provider_catalog_link", "provider_catalog_api_link"),
		),
		Params: filters(
			is("resource_catalog_id", 36), is("format", 32), between("update_date", DateTime), flag("is_hxl"),
			is("dataset_catalog_id", 36), is("dataset_catalog_stub", 128), contains("dataset_catalog_title", 1024),
			like("dataset_catalog_provider_stub", 128), fullName("dataset_catalog_provider_name", 512),
		),
	},
	{
		Path:    "/api/v2/metadata/location",
		Table:   "location",
		Summary: "Locations (countries)",
		Fields: record(
			integers("id"), text("code", 128), text("name", 512), booleans("has_hrp", "in_gho", "from_cods"),
			times("reference_period_start"), null(times("reference_period_end")),
		),
		Params: filters(number("id"), like("code", 128), contains("name", 512), flags, dates),
	},
	{
		Path:    "/api/v2/metadata/admin1",
		Table:   "admin1",
		Summary: "First-level administrative units",
		Fields: record(
			integers("id", "location_ref"), text("code", 128), text("name", 512), booleans("from_cods"),
			times("reference_period_start"), null(times("reference_period_end")), country,
		),
		Params: filters(number("id"), number("location_ref"), like("code", 128), contains("name", 512), loc, dates),
	},
	{
		Path:    "/api/v2/metadata/admin2",
		Table:   "admin2",
		Summary: "Second-level administrative units",
		Fields: record(
			integers("id", "admin1_ref"), text("code", 128), text("name", 512), booleans("from_cods"),
			times("reference_period_start"), null(times("reference_period_end")),
			text("admin1_code", 128), text("admin1_name", 512), country, integers("location_ref"),
		),
		Params: filters(
			number("id"), number("admin1_ref"), number("location_ref"), like("code", 128), contains("name", 512),
			like("admin1_code", 128), contains("admin1_name", 512), loc, dates,
		),
	},
	{
		Path:    "/api/v2/metadata/currency",
		Table:   "currency",
		Summary: "Currencies",
		Fields:  record(text("code", 32), text("name", 512)),
		Params:  like("code", 32),
	},
	{
		Path:    "/api/v2/metadata/org",
		Table:   "org",
		Summary: "Organisations",
		Fields: record(
			text("acronym", 32), text("name", 512), null(text("org_type_code", 32), text("org_type_description", 512)),
		),
		Params: filters(
			like("acronym", 32), contains("name", 512), is("org_type_code", 32), contains("org_type_description", 512),
		),
	},
	{
		Path:    "/api/v2/metadata/org-type",
		Table:   "org_type",
		Summary: "Types of organisation",
		Fields:  record(text("code", 32), text("description", 512)),
		Params:  filters(is("code", 32), contains("description", 512)),
	},
	{
		Path:    "/api/v2/metadata/sector",
		Table:   "sector",
		Summary: "Sectors of humanitarian work",
		Note:    "code must be the whole code here; the data endpoints match a part of sector_code.",
		Fields:  record(text("code", 32), text("name", 512)),
		Params:  filters(like("code", 32), contains("name", 512)),
	},
	{
		Path:    "/api/v2/metadata/agency-commodity",
		Table:   "commodity",
		Summary: "Commodities of the price monitor",
		Note:    "Codes are strings: 9 sorts after 10.",
		Fields:  record(text("code", 32), choice("category", commodityCategory), text("name", 512)),
		Params:  filters(like("code", 32), oneOf("category", commodityCategory), contains("name", 512)),
	},
	{
		Path:    "/api/v2/metadata/agency-market",
		Table:   "market",
		Summary: "Markets of the price monitor",
		Fields:  record(geo, text("code", 32), text("name", 512), null(decimals("lat", "lon"))),
		Place:   filters(loc, a1, a2, lvl),
		Params:  filters(like("code", 32), contains("name", 512), flags),
	},
	{
		Path:    "/api/v2/metadata/data-availability",
		Table:   "data_availability",
		Summary: "What the data endpoints hold, by place and date of update",
		Note:    "Rows have no provider names, so the names of admin units match stored names only.",
		Fields:  record(geo, text("category", 128), text("subcategory", 128), times("api_updated_date")),
		Params: filters(
			like("category", 128), like("subcategory", 128), between("api_updated_date", DateTime), loc, a1Unit, a2Unit, lvl,
		),
	},
}
