package loader

import (
	"math"
	"slices"

	"hdqs/snapshot"
)

// table declares one table of a snapshot: what a row holds, which rows are duplicates, and how rows
// are ordered. Everything that reads, checks, sorts or writes the table works from this literal.
type table struct {
	name    string
	columns []column

	// key names the columns that identify a row; of two rows with one key the later wins. nil keeps
	// every row.
	key []string

	// order is the sort order, tie-breaks included; nil: that of the key. Rows that are equal in all of it keep the order
	// they were loaded in.
	order []string
}

// column declares one column of a table.
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

// rows makes a block of columns of rows.
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
