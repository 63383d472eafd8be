package contract

import "math/big"

// Op is how a filter compares a column's value with its own. Null never matches, except for
// AtLeastOrNull.
type Op uint8

// The comparisons, with the contract's names for them.
const (
	Equal         Op = 1 + iota // text: byte for byte; numbers, booleans: by value (exact, *_equal)
	Like                        // the whole text, any case, with wildcards (ilike)
	Contains                    // a part of the text, any case, with wildcards (icontains)
	AtLeast                     // >= (ge)
	Below                       // < (lt, overlap_end)
	AtLeastOrNull               // >= or null (overlap_start)
)

// Value is a filter's value. Which member counts follows from the parameter's type: Text for texts
// and enums, Int for integers, booleans (0, 1) and times (microseconds), Float for numbers, Exact
// for exact decimals. Beyond is the sign of an integer that needs more than 64 bits, otherwise 0.
type Value struct {
	Text   string
	Int    int64
	Beyond int8
	Float  float64
	Exact  *big.Rat
}

// Filter is a filter of a request: the position of its parameter in Plan.Params, and its value, or
// for a list its values, of which a row must have one.
type Filter struct {
	Param  int
	Value  Value
	Values []Value
}
