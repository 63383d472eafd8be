package loader

import "regexp"

// theme declares one table and everything the loader has to know about it: what a row holds, which
// files its rows come from and how they are read, the dump of the incumbent's view, where the files
// are published, and how the table stands in the list of available data. Sources, views,
// availability and the inputs of a CKAN site are derived from these literals, so each fact is
// written once.
type theme struct {
	table *table

	// role names the theme's files: the folder of a data theme, the file in reference/ of a list.
	// Empty for tables that the loader makes from others.
	role      string
	published Input // where a CKAN site has the files

	// steps read a row of these files. Nil for the lists of places, which have readers of their own
	// (lists.go).
	steps []step

	// checks look at what the steps have set, and keep the row. They also check dumps.
	checks []step

	// joinedBy are the columns by which steps of other themes look up rows of this one; nil when no
	// theme does.
	joinedBy []string

	view view

	// category and subcategory are what the list of available data calls a data theme; both are
	// empty for reference lists. They follow the path of the table's endpoint, except for rainfall,
	// which the incumbent lists under another name. A data theme without a subcategory has its role
	// as that.
	category, subcategory string
	places                []placeGroup // of a data theme: the groups that hold its places; nil: inPlace
}

// headers are the columns that files of the theme must have, and those that are used when they are
// there.
func (th *theme) headers() (wanted, optional []string) {
	wanted, optional = headersOfSteps(th.steps)
	return wanted, append(optional, unreadHeaders...)
}

// joins are the roles of the lists that rows of the theme are joined with.
func (th *theme) joins() []string {
	var roles []string
	for _, s := range th.steps {
		if s.joins != "" {
			roles = append(roles, s.joins)
		}
	}
	return roles
}

// Input says where a CKAN site publishes the files of a role: the dataset, and which of its CSV
// resources count.
type Input struct {
	Role     string         // set by Inputs
	Dataset  string         // name of the CKAN dataset
	Named    *regexp.Regexp // what names of its resources match; nil matches all
	Left     *regexp.Regexp // what names of tables match that no role need take; nil matches none
	First    bool           // only the first CSV resource that matches
	Optional bool           // the loader has a copy of its own
}

// view declares how a dump of one of the incumbent's views becomes a table. Most columns have the
// same name in both. Rows are taken as they are, in file order and with duplicates; what the checks
// would drop from a catalog is only reported.
type view struct {
	name    string            // the dump is <name>.csv, possibly compressed; "" is the table's name with _view
	renamed map[string]string // column of the table -> of the dump, where they differ; nil in a data theme: dataRenamed
	hidden  string            // a flag of rows that the table leaves out
	needed  string            // a column whose null drops the row: no record could be printed
	assumed map[string]bool   // flags that older or newer dumps lack, and their value then
}

// placeGroup is a group of columns that holds a place; prefix is that of its columns.
type placeGroup struct{ group, prefix string }

var (
	inPlace       = []placeGroup{{group: "place"}}
	inMarket      = []placeGroup{{group: "market"}}
	betweenPlaces = []placeGroup{{group: "origin", prefix: "origin_"}, {group: "asylum", prefix: "asylum_"}}
)

// Blocks that many tables share.
var (
	resourceID = rows(text("resource_catalog_id", 36).indexed())
	period     = group("period", instant("reference_period_start"), instant("reference_period_end"))
	openPeriod = group("period", instant("reference_period_start"), instant("reference_period_end").orNull())
	age        = group("age", text("age_range", 32), integer("min_age").orNull().nonNegative(),
		integer("max_age").orNull().nonNegative())
	sector = group("sector", text("sector_code", 32), text("sector_name", 512))

	// country is a place that is only a country.
	country = group("place",
		integer("location_ref"), text("location_code", 128), text("location_name",
			512), flag("has_hrp"), flag("in_gho"))

	// place2 is a place down to level 2: the stored unit and its parents, what prints of them, and
	// what the provider called it.
	place2 = group("place", unitColumns...)

	// place1 is the same down to level 1.
	place1 = group("place",
		integer("admin1_ref"), integer("location_ref"),
		text("location_code", 128), text("location_name", 512), flag("has_hrp"), flag("in_gho"),
		text("stored_admin1_code", 128), text("stored_admin1_name", 512), text("provider_admin1_name", 512),
		text("admin1_code", 128).orNull(), text("admin1_name", 512).orNull(), integer("admin_level"))
)

var unitColumns = []column{
	integer("admin2_ref"), integer("admin1_ref"), integer("location_ref"),
	text("location_code", 128), text("location_name", 512), flag("has_hrp"), flag("in_gho"),
	text("stored_admin1_code", 128), text("stored_admin1_name", 512),
	text("stored_admin2_code", 128), text("stored_admin2_name", 512),
	text("provider_admin1_name", 512), text("provider_admin2_name", 512),
	text("admin1_code", 128).orNull(), text("admin1_name", 512).orNull(),
	text("admin2_code", 128).orNull(), text("admin2_name", 512).orNull(), integer("admin_level"),
}

// dataRenamed are the columns that have other names in the dumps of data themes.
var dataRenamed = map[string]string{
	"resource_catalog_id":   "resource_hdx_id",
	"classification_phase":  "ipc_phase",
	"classification_type":   "ipc_type",
	"api_updated_date":      "hapi_updated_date",
	"stored_admin1_code":    "admin1_code",
	"stored_admin1_name":    "admin1_name",
	"stored_admin2_code":    "admin2_code",
	"stored_admin2_name":    "admin2_name",
	"dataset_catalog_id":    "dataset_hdx_id",
	"dataset_catalog_stub":  "dataset_hdx_stub",
	"dataset_catalog_title": "dataset_title",
}

// viewName is the name of the theme's dump.
func (th *theme) viewName() string {
	if th.view.name != "" {
		return th.view.name
	}
	return th.table.name + "_view"
}

// viewHeader is the dump's name for a column of the table.
func (th *theme) viewHeader(column string) string {
	renamed := th.view.renamed
	if renamed == nil && th.category != "" {
		renamed = dataRenamed
	}
	if name, ok := renamed[column]; ok {
		return name
	}
	return column
}
