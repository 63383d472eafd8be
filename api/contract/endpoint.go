package contract

import (
	"net/url"
	"slices"
	"strings"

	"hdqs/index"
	"hdqs/schema"
)

// Endpoint declares one list endpoint. Faults are reported in the order of its parameters: Place,
// then the page parameters that all endpoints share (blocks.go), then Params.
type Endpoint struct {
	Path    string
	Table   string
	Summary string
	Note    string  // what callers must know beside the parameters; may be empty
	Fields  []Field // of a record, in the order in which they are sent
	Place   []Param // filters by place, which are checked before the page parameters
	Params  []Param

	// What identifies a row and what its figures mean (figures.go).
	Key        []string    // columns that identify a row; they mean the same in every load
	Order      []string    // columns by which rows are sorted; rows with one first value have one of Key, too
	Rounds     []string    // of Key: numbers of rounds, each of which replaces the one before
	Figures    []Figure    // every number of a record
	Dimensions []Dimension // every other field of a record that has an amount or an average
	Edition    *Edition    // what is published together; nil where no edition replaces another

	Provisional Provisional // which rows are

	// Of headline figures (headline.go) only.
	Headline *Headline // nil for the path of all of them
	History  bool      // what the figure was before
	list     string

	// Of endpoints in HAPI names (nameset.go) only.
	names     NameSet
	contract  *Endpoint // the same endpoint in the contract's names
	also      []string  // further paths
	csv       []Field   // of a CSV line, where it has more than the record
	operation string    // the public service's operationId
}

// Names are the names that the endpoint's answers use.
func (e *Endpoint) Names() NameSet { return e.names }

// Contract is the endpoint in the contract's names.
func (e *Endpoint) Contract() *Endpoint {
	if e.contract == nil {
		return e
	}
	return e.contract
}

// Paths are all paths of the endpoint; Path is the first.
func (e *Endpoint) Paths() []string { return append([]string{e.Path}, e.also...) }

// LatField and LonField are the fields of a record that has a place on the map.
const (
	LatField = "lat"
	LonField = "lon"
)

// HasPoints reports whether records have a place on the map, so that they can be sent as GeoJSON.
func (e *Endpoint) HasPoints() bool { return e.HasField(LatField) }

// CountryFields are the fields with codes of countries, by which the list can be filtered: two of a
// list of people from one country in another.
func (e *Endpoint) CountryFields() (names []string) {
	for i := range e.Fields {
		if name := e.Fields[i].Name; strings.HasSuffix(name, CountryParam) {
			names = append(names, name)
		}
	}
	return names
}

// HasField reports whether records have a field of that name.
func (e *Endpoint) HasField(name string) bool {
	return slices.ContainsFunc(e.Fields, func(f Field) bool { return f.Name == name })
}

// CSVFields are the columns of a CSV answer.
func (e *Endpoint) CSVFields() []Field {
	if e.csv == nil {
		return e.Fields
	}
	return e.csv
}

// Group is the part of the path before the endpoint's own name.
func (e *Endpoint) Group() string {
	parts := strings.Split(e.Path, "/")
	return parts[len(parts)-2]
}

// Name is the last part of the path, or of a history the last two.
func (e *Endpoint) Name() string {
	path, isHistory := strings.CutSuffix(e.Path, HistoryPath)
	name := path[strings.LastIndexByte(path, '/')+1:]
	if isHistory {
		name += "-history"
	}
	return name
}

// SetName is the name of the list among the entity sets of OData, which have no hyphens. It is made
// of the name in HAPI names.
func (e *Endpoint) SetName() string {
	at := slices.IndexFunc(Endpoints, func(other Endpoint) bool { return other.Path == e.Contract().Path })
	return strings.ReplaceAll(hapiEndpoints[at].Name(), "-", "_")
}

// Type is what a field or parameter holds.
type Type uint8

// The types. Day is the partial date of start_date and end_date. DateTime is a date-time, and as a
// parameter also a date. Number compares as a 64-bit float, Exact as a decimal. URI is a string,
// for fields only.
const (
	String Type = 1 + iota
	URI
	Choice
	Integer
	Number
	Exact
	Boolean
	DateTime
	Day
)

// Field is one key of a record.
type Field struct {
	Name     string
	Type     Type
	Nullable bool
	Max      int   // String: most code points, 0 without limit
	Enum     *Enum // Choice only
}

// Column is the name of the column with the field's values: that of the field in the contract.
func (f *Field) Column() string { return ContractNames.Name(f.Name) }

// Param is one query parameter. With Columns it is a filter: at least one of them has the relation
// Op to the parameter's value.
type Param struct {
	Name     string
	Type     Type
	Max      int   // most code points, 0 without limit; of a Choice only in the description
	Enum     *Enum // Choice only
	Op       index.Op
	Columns  []string
	Floor    *int // Integer: least value, nil without
	Ceiling  *int // Integer: greatest value, nil without
	Default  string
	Several  bool       // a second parameter takes several values (value_lists.go)
	List     bool       // this is that second parameter, or with Own one with several values
	Required bool       // of Own: 422 without it
	Own      *ParamKind // of a kind of request: neither a filter nor of the page; nil for others
	Grouped  bool       // its values are groups of countries (country_groups.go)
	Earlier  bool       // a filter of version 1 that version 2 of the public service does not have
	example  string     // for the documentation; empty for a value by name or type (meanings.go)
}

// Twin is the parameter's name in the other set, empty if both sets have the same.
func (p *Param) Twin() string {
	for s := range NameSet(len(identifierHeaders)) {
		if name := s.Name(p.Name); name != p.Name {
			return name
		}
	}
	return ""
}

// Enum is a closed list of values, in the sort order of its columns.
type Enum struct {
	Name     string
	Values   []string
	Expected string // the values as error texts quote them
}

// newEnum makes an enum. Error texts quote its values as 'a', 'b' or 'c'.
func newEnum(name string, values ...string) *Enum {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = "'" + v + "'"
	}
	last := len(quoted) - 1
	return &Enum{Name: name, Values: values, Expected: strings.Join(quoted[:last], ", ") + " or " + quoted[last]}
}

// with returns the enum with values that error texts do not name: their words are the contract's.
func (e *Enum) with(values ...string) *Enum {
	return &Enum{e.Name, slices.Concat(e.Values, values), e.Expected}
}

func (e *Enum) has(value string) bool { return slices.Contains(e.Values, value) }

// The functions that endpoint literals are made of. They make one field or parameter, or several.

func null(parts ...[]Field) []Field {
	all := slices.Concat(parts...)
	for i := range all {
		all[i].Nullable = true
	}
	return all
}

func text(name string, limit int) []Field { return []Field{{Name: name, Type: String, Max: limit}} }

func integers(names ...string) []Field { return fieldsOf(Integer, names) }
func decimals(names ...string) []Field { return fieldsOf(Number, names) }
func booleans(names ...string) []Field { return fieldsOf(Boolean, names) }
func times(names ...string) []Field    { return fieldsOf(DateTime, names) }

func fieldsOf(t Type, names []string) []Field {
	fields := make([]Field, len(names))
	for i, name := range names {
		fields[i] = Field{Name: name, Type: t}
	}
	return fields
}

// textFilter matches texts in any case, with wildcards: a whole value of a column, or a part of it.
// The column is named as the parameter if there are no others.
func textFilter(op index.Op, name string, limit int, columns ...string) Param {
	if columns == nil {
		columns = []string{name}
	}
	return Param{Name: name, Type: String, Max: limit, Op: op, Columns: columns, Several: op == index.Like}
}

// between is the pair name_min (inclusive) and name_max (exclusive) of a column.
func between(name string, t Type) []Param {
	return []Param{
		{Name: name + "_min", Type: t, Op: index.AtLeast, Columns: []string{name}},
		{Name: name + "_max", Type: t, Op: index.Below, Columns: []string{name}},
	}
}

// Filters are the parameters of the endpoint that are filters.
func (e *Endpoint) Filters() []Param { return slices.Concat(e.Place, e.Params) }

// IsLevel reports whether the parameter is an enum of numbers: the level of a row is an integer
// column.
func (p *Param) IsLevel() bool { return p.Enum == adminLevel || p.Enum == levelOrCoarsest }

// Takes reports whether a value is one of those that the parameter offers.
func (p *Param) Takes(value string) bool { return p.Enum != nil && p.Enum.has(value) }

// WebLink returns an address that pages may link to: one of the web, empty for any other.
func WebLink(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return address
}

// ParamKind is a parameter that only requests of some kinds have. It is neither a filter nor of the
// page: it chooses what is made of the rows that pass. There is one for each of these parameters.
type ParamKind struct {
	// read reads the value. Its faults are reported like those of the other parameters.
	read func(r *Request, p *Param)

	// write is the value in the canonical query, empty if it has no effect.
	write func(q *Question) string

	// issue is the issue of a request without a value; nil if none is needed.
	issue func(e *Endpoint, kind, text string) Issue
}

// SeveralSuffix is what the name of a parameter for several values adds to the plain one.
const SeveralSuffix = "__in"

// Edition and Provisional are those of a list.
type (
	Edition     = schema.Edition
	Provisional = schema.Provisional
)

// The declarations of what is provisional.
const (
	Never      = schema.Never
	Unfinished = schema.Unfinished
	NotFinal   = schema.NotFinal
)

// CountryParam is the parameter with the country of headline figures.
const CountryParam = "location_code"

// positionOf is a field's position by its name in either set, -1 if there is none.
func positionOf(fields []Field, name string) int {
	return slices.IndexFunc(fields, func(f Field) bool {
		return f.Name == name || ContractNames.Name(f.Name) == ContractNames.Name(name)
	})
}

// Kind is what is made of the rows that pass a request's filters.
type Kind uint8

// The kinds. Each but Rows and Figures has a path of its own below the endpoint's. All have the
// endpoint's filters and page parameters.
const (
	Rows      Kind = iota // their records
	Aggregate             // figures of groups of them
	Facets                // how many of them have each value of a field
	Changes               // those that another snapshot does not have so
	Export                // the records of all of them, in one answer
	Figures               // headline figures, which have endpoints of their own
)

// kindNames are the last parts of the paths.
var kindNames = [...]string{
	Rows: "", Aggregate: "aggregate", Facets: "facets", Changes: "changes", Export: "export",
	Figures: "",
}

// String is the last part of the kind's paths, empty for Rows and Figures.
func (k Kind) String() string { return kindNames[k] }
