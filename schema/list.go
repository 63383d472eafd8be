package schema

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// List declares one list. Fields that are left out have the values that are named with them.
type List struct {
	Path    string // without the root of the version, such as climate/rainfall
	Table   string // the last part of Path, with '_' for '-'
	Summary string // what the list has, in a few words
	Note    string // what callers must know beside the parameters; may be empty

	Columns []Column // in the order in which a table stores them
	Record  []string // the columns of a record, in its order: see defaultRecord
	Filters []Filter // but for those that places and periods have

	// Order is by what rows are sorted, with all tie-breaks. Key identifies a row; of rows with one
	// key a load keeps one, unless KeepAll is set. Left out, it is all of Order: see defaultKey.
	// Rounds are the columns of Key that number rounds, each of which replaces the one before.
	Order, Key, Rounds []string
	KeepAll            bool

	Dimensions  []Dimension // of a list with amounts or averages: what adding over each other field means
	Edition     *Edition    // what is published together; nil where no edition replaces another
	Provisional Provisional // which rows are

	Source Source
	Public Public
}

// Source is where the rows of a list are published.
type Source struct {
	// Role names the files: the last part of Path for data. Reference lists without one are made
	// from other files.
	Role        string
	Dataset     string         // name of the CKAN dataset: hdx-hapi- and the role for data
	Named       *regexp.Regexp // what names of its resources match; nil matches all
	Left        *regexp.Regexp // what names of tables match that no role need take; nil matches none
	First       bool           // only the first CSV resource that matches
	Optional    bool           // the loader has a copy of its own
	Subcategory string         // in the list of available data: the role
}

// Public is what the public service (HDX HAPI) calls a list, where that is not the path in both
// versions and the name of the table.
type Public struct {
	V2, V1 []string // paths without their roots, the described one first; V1 is V2 if left out
	Noun   string   // in its operationId
}

// Edition declares what is published together: rows with the same country, level and Fields are of
// one edition if they have one period.
type Edition struct {
	Fields []string

	// Whole takes the newest period of the whole list, by Fields: of a year in which nobody went
	// from one country to another there is no row, so the newest of that pair says nothing.
	Whole bool

	// Having takes the newest year, by its start, in which a row has a value in this field.
	Having string
}

// Provisional is which rows of a list are provisional: their source will replace them. It is
// declared, never guessed from dates: risks of 2024 are published in 2023, and the presence of
// organisations ends in years to come.
type Provisional uint8

// The declarations. Unfinished are rows of a period that had not ended when their resource was last
// changed. NotFinal are rows whose version is not final.
const (
	Never Provisional = iota
	Unfinished
	NotFinal
)

// Data reports whether the list has data; the others are references.
func (l *List) Data() bool { return l.Group() != "metadata" }

// Group is the first part of the path.
func (l *List) Group() string { return path.Dir(l.Path) }

// Column finds a column by its name, nil without one.
func (l *List) Column(name string) *Column {
	at := slices.IndexFunc(l.Columns, func(c Column) bool { return c.Name == name })
	if at < 0 {
		return nil
	}
	return &l.Columns[at]
}

// Filtered reports whether a filter of the list looks at a column.
func (l *List) Filtered(column string) bool {
	return slices.ContainsFunc(l.Filters, func(f Filter) bool { return f.Column == column })
}

// Fields are the columns of a record, in its order.
func (l *List) Fields() []*Column {
	fields := make([]*Column, len(l.Record))
	for i, name := range l.Record {
		fields[i] = l.Column(name)
	}
	return fields
}

// LastingKey is the key in columns that mean the same in every load: codes in place of ids.
func (l *List) LastingKey() []string {
	key := slices.Clone(l.Key)
	for i, name := range key {
		stem, isRef := strings.CutSuffix(name, "_ref")
		switch {
		case name == "id":
			key[i] = "code"
		case isRef && strings.HasPrefix(name, "admin"):
			key[i] = "stored_" + stem + "_code"
		case isRef:
			key[i] = stem + "_code"
		}
	}
	return key
}

// defaultRecord is the order of most records: the place, the resource, the list's own columns, the
// period. Added columns follow.
func defaultRecord(columns []Column) []string {
	var place, resource, own, period []string
	for _, c := range columns {
		switch {
		case c.Hidden, c.Added:
		case c.Group == placeGroup:
			place = append(place, c.Name)
		case c.Name == resourceID:
			resource = append(resource, c.Name)
		case c.Group == periodGroup:
			period = append(period, c.Name)
		default:
			own = append(own, c.Name)
		}
	}
	return slices.Concat(place, resource, own, period)
}

// defaultKey is all of the order: the place with the names and numbers that its provider uses, the
// others, the start of the period.
func defaultKey(order []string) []string {
	var place, own, period []string
	for _, name := range order {
		switch {
		case strings.HasPrefix(name, "admin") || strings.HasPrefix(name, "provider_"):
			place = append(place, name)
		case name == PeriodStart:
			period = append(period, name)
		default:
			own = append(own, name)
		}
	}
	return slices.Concat(place, own, period)
}
