package loader

var metadataTables = []*table{
	{
		name: "location",
		columns: record(
			rows(integer("id"), text("code", 128).indexed(), text("name", 512).indexed(),
				flag("has_hrp").indexed(), flag("in_gho").indexed(), flag("from_cods")),
			openPeriod),
		key:   []string{"id"},
		order: []string{"id"},
	},
	{
		name: "admin1",
		columns: record(
			rows(integer("id"), text("code", 128).indexed(), text("name", 512).indexed(), flag("from_cods")),
			location, openPeriod),
		key:   []string{"id"},
		order: []string{"id"},
	},
	{
		name: "admin2",
		columns: record(
			rows(integer("id"), text("code", 128).indexed(), text("name", 512).indexed(), flag("from_cods")),
			group("admin1", integer("admin1_ref"), text("admin1_code", 128), text("admin1_name", 512)),
			location, openPeriod),
		key:   []string{"id"},
		order: []string{"id"},
	},
	{
		name:    "currency",
		columns: rows(text("code", 32).indexed(), text("name", 512)),
		key:     []string{"code"},
		order:   []string{"code"},
	},
	{
		name: "org",
		columns: rows(text("acronym", 32).indexed(), text("name", 512).indexed(),
			text("org_type_code", 32).orNull().indexed(), text("org_type_description", 512).orNull().indexed()),
		key:   []string{"acronym", "name"},
		order: []string{"acronym", "name"},
	},
	{
		name:    "org_type",
		columns: rows(text("code", 32).indexed(), text("description", 512).indexed()),
		key:     []string{"code"},
		order:   []string{"code"},
	},
	{
		name:    "sector",
		columns: rows(text("code", 32).indexed(), text("name", 512).indexed()),
		key:     []string{"code"},
		order:   []string{"code"},
	},
	{
		name:    "commodity",
		columns: rows(text("code", 32).indexed(), enum("category", commodityCategories), text("name", 512).indexed()),
		key:     []string{"code"},
		order:   []string{"code"},
	},
	{
		name: "market",
		columns: record(
			place2,
			rows(text("code", 32).indexed(), text("name", 512).indexed(), decimal("lat").orNull().between(-90, 90), decimal("lon").orNull().between(-180, 180))),
		key:   []string{"code"},
		order: []string{"code"},
	},
	{
		name: "dataset",
		columns: rows(
			text("dataset_catalog_id", 36).indexed(), text("dataset_catalog_stub", 128).indexed(), text("dataset_catalog_title", 1024).indexed(),
			text("catalog_provider_stub", 128).indexed(), text("catalog_provider_name", 512).indexed(),
			text("catalog_link", maxURI), text("catalog_api_link", maxURI),
			text("provider_catalog_link", maxURI), text("provider_catalog_api_link", maxURI)),
		key:   []string{"dataset_catalog_id"},
		order: []string{"dataset_catalog_id"},
	},
	{
		name: "resource",
		columns: rows(
			text("resource_catalog_id", 36).indexed(), text("dataset_catalog_id", 36).indexed(), text("name", 256), text("format", 32).indexed(),
			instant("update_date"), flag("is_hxl").indexed(), text("download_url", maxURI), instant("api_updated_date"),
			text("dataset_catalog_stub", 128).indexed(), text("dataset_catalog_title", 1024).indexed(),
			text("dataset_catalog_provider_stub", 128).indexed(), text("dataset_catalog_provider_name", 512).indexed(),
			text("catalog_link", maxURI), text("catalog_api_link", maxURI),
			text("dataset_catalog_link", maxURI), text("dataset_catalog_api_link", maxURI),
			text("provider_catalog_link", maxURI), text("provider_catalog_api_link", maxURI)),
		key:   []string{"resource_catalog_id"},
		order: []string{"resource_catalog_id"},
	},
	{
		name: "data_availability",
		columns: record(
			rows(text("category", 128).indexed(), text("subcategory", 128).indexed(), instant("api_updated_date").indexed()),
			group("place",
				text("location_code", 128), text("location_name", 512),
				text("stored_admin1_code", 128), text("stored_admin1_name", 512),
				text("stored_admin2_code", 128), text("stored_admin2_name", 512),
				text("admin1_code", 128).orNull(), text("admin1_name", 512).orNull(),
				text("admin2_code", 128).orNull(), text("admin2_name", 512).orNull(), integer("admin_level"))),
		order: []string{
			"category", "subcategory", "location_name", "location_code",
			"stored_admin1_name", "stored_admin1_code", "stored_admin2_name", "stored_admin2_code",
			"admin_level", "api_updated_date",
		},
	},
}

// maxURI is the longest link that a record may hold.
const maxURI = 2083

var location = group("location", integer("location_ref"), text("location_code", 128), text("location_name", 512))
