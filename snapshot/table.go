package snapshot

import "math"

// Kind is what the values of a column are.
type Kind uint8

// The kinds of column. Enum is text whose sort order is declared, not alphabetical; Time is microseconds since
// 1970-01-01T00:00:00 without a zone.
const (
	Text Kind = 1 + iota
	Enum
	Int
	Decimal
	Bool
	Time
)

// NullCode and NullInt stand for null in the Codes and Ints of a ColumnData.
const (
	NullCode = math.MaxUint32
	NullInt  = math.MinInt64
)

// TableData is one table in memory, rows in their final order: what WriteSegment turns into bytes.
type TableData struct {
	Name    string
	Rows    int
	Groups  []GroupData
	Columns []ColumnData // one value a row
}

// GroupData is a tuple dictionary: columns whose values go together (a place, an organisation, a period) are stored once a
// distinct tuple, and each row holds the tuple's number. WriteSegment drops unused tuples and numbers the rest by
// first appearance, so a group that leads the sort order becomes a run of rows per tuple.
type GroupData struct {
	Name    string
	Codes   []uint32 // one a row: position of its tuple in Columns
	Tuples  int
	Columns []ColumnData // one value a tuple
}

// ColumnData is the values of one column, of the rows or of a group's tuples. By kind, one of Codes+Values, Ints or Decimals
// is set. Column names are unique in a table, groups included.
type ColumnData struct {
	Name string
	Kind Kind

	// Index asks for one posting a distinct value, for columns of rows. Columns of groups need none: their group has postings.
	Index bool

	// Text and Enum: Codes point into Values; NullCode is null. Values of Text are distinct, in any order; those of Enum are the
	// declared list in its declared order, whether or not each occurs.
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
