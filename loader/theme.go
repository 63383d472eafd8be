package loader

import (
	"cmp"
	"math"
	"regexp"
	"slices"

	"hdqs/snapshot"
)

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
	published published // where a CKAN site has the files

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

// published says where a CKAN site publishes the files of a role: the dataset, and which of its CSV
// resources count.
type published struct {
	dataset  string
	named    string // regular expression that resource names match; empty matches all
	left     string // regular expression of names of tables that no role need take; empty matches none
	first    bool   // only the first resource that matches
	optional bool   // the loader has a copy of its own
}

// placeGroup is a group of columns that holds a place; prefix is that of its columns.
type placeGroup struct{ group, prefix string }

var (
	inPlace       = []placeGroup{{group: "place"}}
	inMarket      = []placeGroup{{group: "market"}}
	betweenPlaces = []placeGroup{{group: "origin", prefix: "origin_"}, {group: "asylum", prefix: "asylum_"}}
)

// themes are all themes, in the order in which manifests and reports list their tables.
var themes = slices.Concat(
	metadataThemes, coordinationThemes, affectedThemes, foodThemes, climateThemes, geographyThemes)

// dataThemes are the themes of the data endpoints.
var dataThemes = slices.DeleteFunc(slices.Clone(themes), func(th *theme) bool { return th.category == "" })

var tables = func() []*table {
	var all []*table
	for _, th := range themes {
		if th.table.order == nil {
			th.table.order = th.table.key
		}
		if th.category != "" {
			th.subcategory = cmp.Or(th.subcategory, th.role)
			if th.places == nil {
				th.places = inPlace
			}
		}
		all = append(all, th.table)
	}
	return all
}()

// tableNamed finds the declaration of a table. An unknown name is a programming error.
func tableNamed(name string) *table {
	for _, t := range tables {
		if t.name == name {
			return t
		}
	}
	panic("loader: no table named " + name)
}

// dataTheme finds the data theme of a role, nil when there is none.
func dataTheme(role string) *theme {
	for _, th := range dataThemes {
		if th.role == role {
			return th
		}
	}
	return nil
}

// IsDataRole reports whether a role is that of a data theme.
func IsDataRole(role string) bool { return dataTheme(role) != nil }

// headers are the columns that files of the theme must have, and those that are used when they are
// there.
func (th *theme) headers() (wanted, optional []string) {
	wanted, optional = headersOfSteps(th.steps)
	return wanted, append(optional, unreadHeaders...)
}

// Input is a role whose files a CKAN site publishes.
type Input struct {
	Role     string
	Dataset  string         // name of the CKAN dataset
	Named    *regexp.Regexp // what names of its resources match; nil matches all
	Left     *regexp.Regexp // what names of tables match that no role need take; nil matches none
	First    bool           // only the first CSV resource that matches
	Optional bool           // the loader has a copy of its own
}

// Inputs are the roles that a CKAN site publishes, data themes first.
func Inputs() []Input {
	var inputs []Input
	for _, th := range slices.Concat(dataThemes, metadataThemes) {
		p := th.published
		if p.dataset == "" {
			continue
		}
		in := Input{Role: th.role, Dataset: p.dataset, First: p.first, Optional: p.optional}
		if p.named != "" {
			in.Named = regexp.MustCompile("(?i)" + p.named)
		}
		if p.left != "" {
			in.Left = regexp.MustCompile(p.left)
		}
		inputs = append(inputs, in)
	}
	return inputs
}

// table declares one table of a snapshot: what a row holds, which rows are duplicates, and how rows
// are ordered. Everything that reads, checks, sorts or writes the table works from this literal.
type table struct {
	name    string
	columns []column

	// key names the columns that identify a row; of rows with one key one is kept. nil keeps
	// every row.
	key []string

	// order is the sort order, tie-breaks included; nil: that of the key. Rows that are equal in
	// all of it keep the order they were loaded in.
	order []string
}

type column struct {
	name     string
	kind     snapshot.Kind
	nullable bool     // the record allows null here; an empty cell is null
	blank    bool     // an empty cell is the empty text although null is allowed
	maxLen   int      // longest text in code points; 0 is no bound
	values   []string // of an Enum, in sort order
	limits   *limits  // of a number; nil is no bound
	group    string   // the tuple dictionary that holds it; "" for a column of rows
	index    bool     // a filter uses it (columns of rows only: groups always have postings)
}

// limits bounds a number, both ends included.
type limits struct{ from, to float64 }

// Shorthands for declarations.

func text(name string, maxLen int) column {
	return column{name: name, kind: snapshot.Text, maxLen: maxLen}
}

func enum(name string, values []string) column {
	return column{name: name, kind: snapshot.Enum, values: values, index: true}
}

func integer(name string) column { return column{name: name, kind: snapshot.Int} }
func decimal(name string) column { return column{name: name, kind: snapshot.Decimal} }
func flag(name string) column    { return column{name: name, kind: snapshot.Bool} }
func instant(name string) column { return column{name: name, kind: snapshot.Time} }

func (c column) orNull() column  { c.nullable = true; return c }
func (c column) orBlank() column { c.nullable, c.blank = true, true; return c }
func (c column) indexed() column { c.index = true; return c }

func (c column) between(from, to float64) column {
	c.limits = &limits{from, to}
	return c
}

// nonNegative bounds a count or a price.
func (c column) nonNegative() column { return c.between(0, maxNumber) }

const maxNumber = math.MaxFloat64

// group puts columns into one tuple dictionary.
func group(name string, columns ...column) []column {
	for i := range columns {
		columns[i].group, columns[i].index = name, false
	}
	return columns
}

// record joins blocks of columns into the columns of a table.
func record(blocks ...[]column) []column { return slices.Concat(blocks...) }

func rows(columns ...column) []column { return columns }

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
