package snapshot

import (
	"math"
	"unicode/utf8"
)

// Kind is what the values of a column are.
type Kind uint8

// The kinds of column. Enum is text whose sort order is declared, not alphabetical; Time is
// microseconds since 1970-01-01T00:00:00 without a zone.
const (
	Text Kind = 1 + iota
	Enum
	Int
	Decimal
	Bool
	Time
)

// NullCode and NullInt are null in the Codes and Ints of a ColumnData.
const (
	NullCode = math.MaxUint32
	NullInt  = math.MinInt64
)

// TableData is one table in memory, rows in their final order, as WriteSegment takes it.
type TableData struct {
	Name    string
	Rows    int
	Groups  []GroupData
	Columns []ColumnData // one value a row
}

// GroupData is a tuple dictionary: columns whose values go together, such as the parts of an
// address or the ends of a period, are stored once for each distinct tuple, and each row has the
// number of its tuple. WriteSegment drops unused tuples and numbers the rest by first appearance,
// so the rows of each tuple of a group that leads the sort order are one run.
type GroupData struct {
	Name    string
	Codes   []uint32 // one a row: position of its tuple in Columns
	Tuples  int
	Columns []ColumnData // one value a tuple
}

// ColumnData is the values of one column, of the rows or of a group's tuples. The kind decides
// which of Codes with Values, Ints, or Decimals is set. Column names are unique in a table,
// including its groups.
type ColumnData struct {
	Name string
	Kind Kind

	// Index is whether to store one posting a distinct value, for columns of rows. Columns of
	// groups need no index: their group has postings.
	Index bool

	// Text and Enum: Codes point into Values; NullCode is null. Values of Text are distinct, in any
	// order; those of Enum are the declared list in its order, whether or not each occurs.
	Codes  []uint32
	Values []string

	// Int, Bool (0 or 1) and Time; NullInt is null.
	Ints []int64

	// Decimal. Texts holds what Dec cannot (see Dec).
	Decimals []Dec
	Texts    []string
}

var kindNames = [...]string{"0", "text", "enum", "int", "decimal", "bool", "time"}

// String is the kind's name in messages and dumps.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// ValidName reports whether a table, group or column can have this name: 1 to 255 bytes of UTF-8.
func ValidName(name string) bool {
	return name != "" && len(name) <= math.MaxUint8 && utf8.ValidString(name)
}
