package schema

import (
	"cmp"
	"math"
	"regexp"
	"slices"
)

// Kind is the type of a column.
type Kind uint8

// The kinds. URI is a text that is a link.
const (
	Text Kind = 1 + iota
	URI
	Choice
	Integer
	Decimal
	Flag
	Time
)

// MaxURI is the longest link that a record may hold.
const MaxURI = 2083

// Column declares a column of a table, which records show unless it is hidden.
type Column struct {
	Name   string
	Kind   Kind
	MaxLen int     // longest text in code points; 0 is no bound
	Enum   *Enum   // Choice only
	Bounds *Bounds // of a number; nil is no bound
	Null   bool    // records allow null here; an empty cell is null
	Blank  bool    // an empty cell is the empty text although null is allowed
	Group  string  // the tuple dictionary that holds it; "" for a column of rows
	Index  bool    // rows are looked up by it, although no filter of the list uses it
	Hidden bool    // records do not show it
	Header string  // in files: the name in HAPI names
	Unit   string  // of a number: a symbol of the SI, % or the code of a currency; may be empty

	// Added is a column that the list did not have at first. Files and snapshots may lack it: it is
	// null then. A group of added columns is left out of tables in which no row has it.
	Added bool

	Use  Use    // what may be done with a number
	Noun string // what the number is, for error texts: people, an index
}

// FileHeader is the name of the column in files.
func (c *Column) FileHeader() string { return cmp.Or(c.Header, HAPIName(c.Name)) }

// Lookup reports whether filters look up rows by a value of the column. Numbers and times are
// scanned.
func (c *Column) Lookup() bool {
	return c.Kind == Text || c.Kind == URI || c.Kind == Choice || c.Kind == Flag
}

// Enum is a closed list of values, in the sort order of its columns.
type Enum struct {
	Name   string
	Values []string
}

// Bounds are the least and the greatest number of a column.
type Bounds struct{ Least, Most float64 }

// Hold reports whether f is within the bounds; nil holds for every number.
func (b *Bounds) Hold(f float64) bool { return b == nil || b.Least <= f && f <= b.Most }

// Match is how a filter compares.
type Match uint8

// The matches. Equal is the exact value. Like is the whole value in any case, Contains a part of
// it, both with wildcards. Between is two parameters: NAME_min (inclusive) and NAME_max
// (exclusive).
const (
	Equal Match = 1 + iota
	Like
	Contains
	Between
)

// Filter declares a filter by the values of a column.
type Filter struct {
	Column string
	Match  Match
	MaxLen int // of the value, where it is not that of the column; of a Choice only described

	// Several gives a filter a second parameter, for several values. Exact compares numbers as
	// decimals, not as floats. Sample is a value for the documentation; it may be empty.
	Several, Exact bool
	Sample         string
}

// The functions that literals are made of.

func text(name string, maxLen int) Column     { return Column{Name: name, Kind: Text, MaxLen: maxLen} }
func uri(name string) Column                  { return Column{Name: name, Kind: URI} }
func choice(name string, values *Enum) Column { return Column{Name: name, Kind: Choice, Enum: values} }
func integer(name string) Column              { return Column{Name: name, Kind: Integer} }
func decimal(name string) Column              { return Column{Name: name, Kind: Decimal} }
func flag(name string) Column                 { return Column{Name: name, Kind: Flag} }
func instant(name string) Column              { return Column{Name: name, Kind: Time} }

func enum(name string, values ...string) *Enum { return &Enum{name, values} }

func (c Column) orNull() Column              { c.Null = true; return c }
func (c Column) orBlank() Column             { c.Null, c.Blank = true, true; return c }
func (c Column) indexed() Column             { c.Index = true; return c }
func (c Column) hidden() Column              { c.Hidden = true; return c }
func (c Column) added() Column               { c.Added = true; return c.orNull() }
func (c Column) from(header string) Column   { c.Header = header; return c }
func (c Column) in(unit string) Column       { c.Unit = unit; return c }
func (c Column) between(a, b float64) Column { c.Bounds = &Bounds{a, b}; return c }

// nonNegative bounds a count or a price.
func (c Column) nonNegative() Column { return c.atLeast(0) }

// people bounds a number of people. More are a code for no value, or digits that ran together.
func (c Column) people() Column { return c.between(0, 10_000_000_000) }

func (c Column) atLeast(least float64) Column { return c.between(least, math.MaxFloat64) }

// Amounts may be added up, noun says of what. Averaged numbers may be averaged, but not added up,
// other numbers neither. Labels are numbers that name something.
func (c Column) amount(noun string) Column   { c.Use, c.Noun = Added, noun; return c }
func (c Column) averaged(noun string) Column { c.Use, c.Noun = Averaged, noun; return c }
func (c Column) neither(noun string) Column  { c.Use, c.Noun = Apart, noun; return c }
func (c Column) label() Column {
	c.Use, c.Noun = Label, "a number that names something"
	return c
}

// part is a column, or several.
type part interface{ columns() []Column }

type block []Column

func (c Column) columns() []Column { return []Column{c} }
func (b block) columns() []Column  { return b }

func columns(parts ...part) block {
	var all block
	for _, p := range parts {
		all = append(all, p.columns()...)
	}
	return all
}

// group puts columns into one tuple dictionary.
func group(name string, parts ...part) block {
	all := slices.Clone(columns(parts...))
	for i := range all {
		all[i].Group = name
	}
	return all
}

// addedGroup is a group that the list did not have at first. Records do not show it.
func addedGroup(name string, parts ...part) block {
	all := hidden(group(name, parts...))
	for i := range all {
		all[i] = all[i].added()
	}
	return all
}

func hidden(all block) block {
	all = slices.Clone(all)
	for i := range all {
		all[i].Hidden = true
	}
	return all
}

// is matches the whole value exactly, like in any case, contains a part of it. only and name match
// exactly too and take one value: a flag, or the name of something.
func is(column string) Filter       { return Filter{Column: column, Match: Equal, Several: true} }
func only(column string) Filter     { return Filter{Column: column, Match: Equal} }
func like(column string) Filter     { return Filter{Column: column, Match: Like, Several: true} }
func contains(column string) Filter { return Filter{Column: column, Match: Contains} }
func between(column string) Filter  { return Filter{Column: column, Match: Between} }

func (f Filter) several() Filter             { f.Several = true; return f }
func (f Filter) exact() Filter               { f.Exact = true; return f }
func (f Filter) atMost(maxLen int) Filter    { f.MaxLen = maxLen; return f }
func (f Filter) example(value string) Filter { f.Sample = value; return f }

// matching compiles a regular expression.
func matching(names string) *regexp.Regexp { return regexp.MustCompile(names) }

func names(parts ...[]string) []string { return slices.Concat(parts...) }
