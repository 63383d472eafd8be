package index

import "math/big"

// Op is how a filter compares a column's value with the filter's value. Null never matches, except for AtLeastOrNull.
type Op uint8

// The comparisons. Their text rules are in match.go; the contract's names stand behind each.
const (
	Equal         Op = 1 + iota // text: byte for byte; numbers, booleans: by value        (exact, enum_equal, bool_equal, level_equal)
	Like                        // the whole text, any case, % _ \ as in SQL               (ilike)
	Contains                    // the text contains the pattern, any case, % _ \ as in SQL (icontains)
	AtLeast                     // >=                                                      (ge)
	Below                       // <                                                       (lt, overlap_end)
	AtLeastOrNull               // >= or null                                              (overlap_start)
)

// Value is what a filter compares with. Which member counts follows from the column's kind and the op: Text for Text and Enum
// columns; Int for Int, Bool (0, 1) and Time (microseconds) columns; Float or Exact for Decimal columns (Exact, when set, compares exact
// decimals, otherwise 64-bit floats are compared).
// An integer parameter beyond 64 bits is given by the sign in Beyond (-1 below every int64, +1 above).
type Value struct {
	Text   string
	Int    int64
	Beyond int8
	Float  float64
	Exact  *big.Rat
}

// Filter restricts rows: at least one of Columns (or'ed) stands in the relation Op to Value. The filters of a query are and'ed.
type Filter struct {
	Columns []string
	Op      Op
	Value   Value
}

// Query asks for the rows that pass all Filters, in row order, less the first Offset, at most Limit of them.
type Query struct {
	Filters []Filter
	Offset  uint64
	Limit   int
}

// Range is the row ids From to To-1.
type Range struct{ From, To uint32 }

// Page is the answer to a query. Ranges are ascending and do not touch; Total counts all passing rows, before Offset and Limit.
// Select reuses the memory of Ranges.
type Page struct {
	Ranges []Range
	Rows   int // rows in Ranges
	Total  int
}
