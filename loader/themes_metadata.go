package loader

import (
	"regexp"

	"hdqs/loader/catalogfile"
)

var metadataThemes = []*theme{
	{
		role: catalogfile.LocationRole,
		table: &table{
			name: "location",
			columns: record(
				rows(integer("id"), text("code", 128).indexed(), text("name", 512).indexed(),
					flag("has_hrp").indexed(), flag("in_gho").indexed(), flag("from_cods")),
				openPeriod),
			key: []string{"id"},
		},
		view: view{needed: "reference_period_start"},
	},
	{
		role:      catalogfile.UnitRole,
		published: Input{Dataset: "global-pcodes", Named: regexp.MustCompile(`(?i)^global_pcodes_adm_1_2`), Left: regexp.MustCompile(otherUnitLists), First: true},
		table: &table{
			name: "admin1",
			columns: record(
				rows(integer("id"), text("code", 128).indexed(), text("name", 512).indexed(), flag("from_cods")),
				location, openPeriod),
			key: []string{"id"},
		},
		view: view{hidden: "is_unspecified", needed: "reference_period_start"},
	},
	{
		table: &table{
			name: "admin2",
			columns: record(
				rows(integer("id"), text("code", 128).indexed(), text("name", 512).indexed(), flag("from_cods")),
				group("admin1", integer("admin1_ref"), text("admin1_code", 128), text("admin1_name", 512)),
				location, openPeriod),
			key: []string{"id"},
		},
		view: view{hidden: "is_unspecified", needed: "reference_period_start"},
	},
	{
		role:      "currency",
		published: Input{Dataset: "hdx-hapi-food-price", Named: regexp.MustCompile(`(?i)Currencies`), First: true},
		table: &table{
			name:    "currency",
			columns: rows(text("code", 32).indexed(), text("name", 512)),
			key:     []string{"code"},
		},
		steps: []step{
			read("code"), read("name"),
		},
	},
	{
		role:      "org",
		published: Input{Dataset: "hdx-hapi-organisations", First: true},
		table: &table{
			name: "org",
			columns: rows(text("acronym", 32).indexed(), text("name", 512).indexed(),
				text("org_type_code", 32).orNull().indexed(), text("org_type_description", 512).orNull().indexed()),
			key: []string{"acronym", "name"},
		},
		steps: []step{
			read("acronym"), read("name"), readOrgType(),
		},
		joinedBy: []string{"acronym", "name"},
	},
	{
		role:      "org-type",
		published: Input{Dataset: "organization-types-beta", Named: regexp.MustCompile(`(?i)CSV no HXL`), Left: regexp.MustCompile(otherForms), First: true, Optional: true},
		table: &table{
			name:    "org_type",
			columns: rows(text("code", 32).indexed(), text("description", 512).indexed()),
			key:     []string{"code"},
		},
		steps: []step{
			readAs("HR.info ID", "code"), readAs("Preferred Term", "description"),
		},
		joinedBy: []string{"code"},
	},
	{
		role: "sector",
		published: Input{
			Dataset: "global-coordination-groups-beta", Named: regexp.MustCompile(`(?i)CSV no HXL`), Left: regexp.MustCompile(otherForms), First: true, Optional: true,
		},
		table: &table{
			name:    "sector",
			columns: rows(text("code", 32).indexed(), text("name", 512).indexed()),
			key:     []string{"code"},
		},
		steps: []step{
			readAs("ACRONYM", "code"), readAs("Preferred Term", "name"),
		},
		joinedBy: []string{"code"},
	},
	{
		role:      "commodity",
		published: Input{Dataset: "hdx-hapi-food-price", Named: regexp.MustCompile(`(?i)Commodities`), First: true},
		table: &table{
			name:    "commodity",
			columns: rows(text("code", 32).indexed(), enum("category", commodityCategories), text("name", 512).indexed()),
			key:     []string{"code"},
		},
		steps: []step{
			read("code"), read("category"), read("name"),
		},
		joinedBy: []string{"code"},
		view:     view{name: "wfp_commodity_view"},
	},
	{
		role:      "market",
		published: Input{Dataset: "hdx-hapi-food-price", Named: regexp.MustCompile(`(?i)Markets`), First: true},
		table: &table{
			name: "market",
			columns: record(
				place2,
				rows(text("code", 32).indexed(), text("name", 512).indexed(), decimal("lat").orNull().between(-90, 90), decimal("lon").orNull().between(-180, 180))),
			key: []string{"code"},
		},
		steps: []step{
			readUnit2(), readAs("market_code", "code"), readAs("market_name", "name"), read("lat"),
			read("lon"),
		},
		joinedBy: []string{"code"},
		view:     view{name: "wfp_market_view", renamed: dataRenamed},
	},
	{
		table: &table{
			name: "dataset",
			columns: rows(
				text("dataset_catalog_id", 36).indexed(), text("dataset_catalog_stub", 128).indexed(), text("dataset_catalog_title", 1024).indexed(),
				text("catalog_provider_stub", 128).indexed(), text("catalog_provider_name", 512).indexed(),
				text("catalog_link", maxURI), text("catalog_api_link", maxURI),
				text("provider_catalog_link", maxURI), text("provider_catalog_api_link", maxURI)),
			key: []string{"dataset_catalog_id"},
		},
		view: view{renamed: map[string]string{
			"dataset_catalog_id":    "hdx_id",
			"dataset_catalog_stub":  "hdx_stub",
			"dataset_catalog_title": "title",
			"catalog_provider_stub": "hdx_provider_stub",
			"catalog_provider_name": "hdx_provider_name",
		}},
	},
	{
		table: &table{
			name: "resource",
			columns: rows(
				text("resource_catalog_id", 36).indexed(), text("dataset_catalog_id", 36).indexed(), text("name", 256), text("format", 32).indexed(),
				instant("update_date"), flag("is_hxl").indexed(), text("download_url", maxURI), instant("api_updated_date"),
				text("dataset_catalog_stub", 128).indexed(), text("dataset_catalog_title", 1024).indexed(),
				text("dataset_catalog_provider_stub", 128).indexed(), text("dataset_catalog_provider_name", 512).indexed(),
				text("catalog_link", maxURI), text("catalog_api_link", maxURI),
				text("dataset_catalog_link", maxURI), text("dataset_catalog_api_link", maxURI),
				text("provider_catalog_link", maxURI), text("provider_catalog_api_link", maxURI)),
			key: []string{"resource_catalog_id"},
		},
		view: view{assumed: map[string]bool{"is_hxl": true}, renamed: map[string]string{
			"resource_catalog_id":           "hdx_id",
			"dataset_catalog_id":            "dataset_hdx_id",
			"dataset_catalog_stub":          "dataset_hdx_stub",
			"dataset_catalog_title":         "dataset_title",
			"dataset_catalog_provider_stub": "dataset_hdx_provider_stub",
			"dataset_catalog_provider_name": "dataset_hdx_provider_name",
			"api_updated_date":              "hapi_updated_date",
		}},
	},
	{
		table: &table{
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
		view: view{renamed: dataRenamed},
	},
}

var location = group("location", integer("location_ref"), text("location_code", 128), text("location_name", 512))

// Tables of the datasets of lists that no role need take: the same rows in other forms or without
// their names, and those with a row of hashtags.
const (
	otherForms     = `^(Organization Types|Global Coordination Groups) \(Beta\) (- )?(CSV|Google Sheet|JSON)$`
	otherUnitLists = `^(global_pcodes|global_pcode_lengths)\.csv$`
)

// joinedLists are the reference lists that the loader reads row by row, in the order in which it
// reads them: a list that another one joins comes first.
var joinedLists = listsOf("org-type", "sector", "currency", "commodity", "org", "market")

func listsOf(roles ...string) []*theme {
	var lists []*theme
	for _, role := range roles {
		for _, th := range metadataThemes {
			if th.role == role {
				lists = append(lists, th)
			}
		}
	}
	return lists
}

// availabilityName is the table that may be derived from the others.
const availabilityName = "data_availability"

// Columns of the list of locations.
const (
	headerISO3      = "ISO 3166-1 Alpha 3-Codes"
	headerM49       = "M49 English"
	headerPreferred = "Preferred Term"
	headerHRP       = "Has HRP"
	headerGHO       = "In GHO"
	headerStart     = "Reference Period Start"
)

// The columns of the two lists of places.
var (
	locationHeaders = []string{headerISO3, headerPreferred, headerM49, headerHRP, headerGHO, headerStart}
	unitHeaders     = []string{"Location", "Admin Level", "P-Code", "Name", "Parent P-Code", "Valid from date"}
)
