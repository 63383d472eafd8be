package index

import "math/big"

// Op is how a filter compares a column's value with its own. Null never matches, except for
// AtLeastOrNull, and Tested as the test says.
type Op uint8

// The comparisons. match.go has the rules for texts. In parentheses are the names in the contract.
const (
	Equal         Op = 1 + iota // the same bytes, number or boolean (exact, enum_equal, bool_equal, level_equal)
	Like                        // the whole text, any case, % _ \ as in SQL (ilike)
	Contains                    // the text contains the pattern, any case, % _ \ as in SQL (icontains)
	AtLeast                     // >= (ge)
	Below                       // < (lt, overlap_end)
	AtLeastOrNull               // >= or null (overlap_start)
	Tested                      // the value passes Filter.Test
)

// Value is what a filter compares with. The column's kind and the op decide which field counts:
// Text for Text and Enum columns; Int for Int, Bool (0, 1) and Time (microseconds) columns; Float
// or Exact for Decimal columns. Exact, when set, compares exact decimals, otherwise 64-bit floats
// are compared. Beyond is the sign of an integer outside of int64: -1 below, +1 above.
type Value struct {
	Text   string
	Int    int64
	Beyond int8
	Float  float64
	Exact  *big.Rat
}

// Filter restricts rows: at least one of Columns must compare to Value by Op, or to at least one of
// Values where there are any, or pass Test. A row must pass all filters of a query.
type Filter struct {
	Columns []string
	Op      Op
	Value   Value
	Values  []Value
	Test    *Test // of Tested only
}

// values are the values of which a row must have one.
func (f *Filter) values() []Value {
	if len(f.Values) > 0 {
		return f.Values
	}
	return []Value{f.Value}
}

// Query asks for the rows that pass all Filters, in row order: at most Limit of them, after the
// first Offset.
type Query struct {
	Filters []Filter
	Offset  uint64
	Limit   int

	// Latest keeps, of the rows that pass all filters, those for which no other such row of the
	// same series has a later period: a later end, or the same end and a later start. A null end is
	// later than all others, a null start earlier. Options.Series says what a series is.
	Latest bool

	// Edition keeps the rows of the newest edition: see Options.Edition.
	Edition bool

	// Coarsest keeps, of the rows that pass all filters, those whose place is not contained in the
	// place of another such row with the same period and the same values in Options.Nested. Latest
	// and Edition then choose among the rows that it keeps.
	Coarsest bool
}

// Range is the row ids From to To-1.
type Range struct{ From, To uint32 }

// Page is the answer to a query. Ranges are ascending and do not touch. Total counts all passing
// rows, before Offset and Limit. Select reuses the memory of Ranges.
type Page struct {
	Ranges []Range
	Rows   int // rows in Ranges
	Total  int
}
