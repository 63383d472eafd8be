package snapshot

import (
	"math"
	"math/big"
	"strconv"
)

// Column is one attribute. Its positions are row ids, or tuple numbers when Group is set.
type Column struct {
	Name     string
	Kind     Kind
	Nullable bool   // at least one value is null
	Group    *Group // nil for a column of rows

	n        int
	coded    bool
	codes    Packed
	postings Postings
	dict     dictionary
	numbers  Numbers
	exact    exactTexts
	size     ColumnSize
}

// Len is the number of positions: the segment's rows, or the group's tuples.
func (c *Column) Len() int { return c.n }

// Position is where the column has the value of a row.
func (c *Column) Position(row uint32) uint32 {
	if c.Group != nil {
		return uint32(c.Group.Codes.At(row))
	}
	return row
}

// Coded reports whether the column is stored as codes into a dictionary. Text, Enum, Bool and Time
// always are, Int and Decimal where values repeat often enough. Codes order like values (Enum: as
// declared). Null has the code Cardinality, so nulls sort last.
func (c *Column) Coded() bool { return c.coded }

// Cardinality is the number of distinct non-null values of a coded column (for Enum: of declared
// values).
func (c *Column) Cardinality() int { return c.dict.len() }

// CodeCount is the number of codes of a coded column, with that of null if it is nullable.
func (c *Column) CodeCount() int {
	if c.Nullable {
		return c.dict.len() + 1
	}
	return c.dict.len()
}

// Codes are the codes of a coded column by position.
func (c *Column) Codes() Packed { return c.codes }

// Postings returns the row ids of each code, null's last; ok is false if the column was written
// without Index.
func (c *Column) Postings() (p Postings, ok bool) { return c.postings, c.postings.Len() > 0 }

// IsNull reports whether the value at position i is null.
func (c *Column) IsNull(i uint32) bool {
	if c.coded {
		return c.Nullable && int(c.codes.At(i)) == c.dict.len()
	}
	return c.Nullable && c.numbers.IsNull(c.numbers.Packed.At(i))
}

// Text is the value at position i of a Text or Enum column, "" for null.
func (c *Column) Text(i uint32) string {
	if c.IsNull(i) {
		return ""
	}
	return c.dict.text(uint32(c.codes.At(i)))
}

// Int is the value at position i of an Int, Bool or Time column, NullInt for null.
func (c *Column) Int(i uint32) int64 {
	switch {
	case c.IsNull(i):
		return NullInt
	case c.coded:
		return c.dict.int(uint32(c.codes.At(i)))
	}
	return c.numbers.Int(c.numbers.Packed.At(i))
}

// Dec is the value at position i of a Decimal column; its scale is DecNull for null, DecText when
// DecString has the value.
func (c *Column) Dec(i uint32) Dec {
	switch {
	case c.IsNull(i):
		return Dec{Scale: DecNull}
	case c.coded:
		return c.dict.dec(uint32(c.codes.At(i)))
	}
	return c.numbers.Dec(c.numbers.Packed.At(i))
}

// DecString is the exact text of a Dec of this column, in plain digits.
func (c *Column) DecString(d Dec) string {
	if d.Scale == DecText {
		return c.exact.at(uint32(d.Mantissa))
	}
	return d.String()
}

// Float is the float64 nearest to a Dec of this column. It is NaN for null, and infinite for an
// exact text beyond its range.
func (c *Column) Float(d Dec) float64 {
	switch d.Scale {
	case DecNull:
		return math.NaN()
	case DecText:
		f, _ := strconv.ParseFloat(c.DecString(d), 64) // in plain digits, so only its range can be wrong
		return f
	}
	return d.Float()
}

// Rat is the exact value of a Dec of this column that is not null.
func (c *Column) Rat(d Dec) *big.Rat { return c.exact.rat(d) }

// CompareDecs orders two Decs of this column that are not null.
func (c *Column) CompareDecs(a, b Dec) int { return c.exact.compare(a, b) }

// ExactTexts is the number of exact texts of the column. The mantissas of its DecText values are
// below it.
func (c *Column) ExactTexts() int { return c.exact.n }

// TextOf is the value of a code of a Text or Enum column. Codes of values are below Cardinality.
func (c *Column) TextOf(code uint32) string { return c.dict.text(code) }

// IntOf is the value of a code of a coded Int, Bool or Time column.
func (c *Column) IntOf(code uint32) int64 { return c.dict.int(code) }

// Span returns the smallest and the largest value of a coded Int, Bool or Time column, from its
// dictionary; ok is false without a value, and for other columns.
func (c *Column) Span() (least, most int64, ok bool) {
	if !c.coded || c.Kind != Int && c.Kind != Bool && c.Kind != Time || c.dict.len() == 0 {
		return 0, 0, false
	}
	return c.dict.int(0), c.dict.int(uint32(c.dict.len() - 1)), true
}

// DecOf is the value of a code of a coded Decimal column.
func (c *Column) DecOf(code uint32) Dec { return c.dict.dec(code) }

// ColumnSize is the size of a column in the file, in bytes.
type ColumnSize struct {
	Codes      int64 // the codes, or the numbers of a column without a dictionary
	Dictionary int64 // the distinct values, exact texts included
	Postings   int64
}

// Size is the size of the column in the file.
func (c *Column) Size() ColumnSize { return c.size }

// bulk is how many numbers are unpacked at a time.
const bulk = 64

// Ints sets dst to the values at positions from, from+1, ... of an Int, Bool or Time column, as Int
// returns them.
func (c *Column) Ints(dst []int64, from uint32) { c.readInts(dst, from, nil) }

// IntsAt is Ints for the positions in at, of which there are as many as dst has elements.
func (c *Column) IntsAt(dst []int64, at []uint32) { c.readInts(dst, 0, at) }

// Decs sets dst to the values at positions from, from+1, ... of a Decimal column, as Dec returns
// them.
func (c *Column) Decs(dst []Dec, from uint32) { c.readDecs(dst, from, nil) }

// DecsAt is Decs for the positions in at, of which there are as many as dst has elements.
func (c *Column) DecsAt(dst []Dec, at []uint32) { c.readDecs(dst, 0, at) }

// readInts sets dst to the values at the positions in at, or, if at is nil, from position from on.
func (c *Column) readInts(dst []int64, from uint32, at []uint32) {
	var space [bulk]uint64
	for i := 0; i < len(dst); i += bulk {
		n := min(len(dst)-i, bulk)
		c.unpack(space[:n], i, from, at)
		c.ints(dst[i:i+n], &space)
	}
}

// readDecs is readInts for decimals.
func (c *Column) readDecs(dst []Dec, from uint32, at []uint32) {
	var space [bulk]uint64
	for i := 0; i < len(dst); i += bulk {
		n := min(len(dst)-i, bulk)
		c.unpack(space[:n], i, from, at)
		c.decs(dst[i:i+n], &space)
	}
}

// unpack sets dst to the packed codes or numbers at the positions at[i], at[i+1], ..., or, if at is
// nil, from position from+i on.
func (c *Column) unpack(dst []uint64, i int, from uint32, at []uint32) {
	packed := c.numbers.Packed
	if c.coded {
		packed = c.codes
	}
	if at == nil {
		packed.Unpack64(dst, from+uint32(i))
		return
	}
	packed.Gather64(dst, at[i:i+len(dst)])
}

// ints sets dst to the values of packed codes or numbers.
func (c *Column) ints(dst []int64, packed *[bulk]uint64) {
	null := uint64(0)
	if c.coded {
		null = uint64(c.dict.len())
	}
	for k := range dst {
		switch v := packed[k&(bulk-1)]; {
		case c.Nullable && v == null:
			dst[k] = NullInt
		case c.coded:
			dst[k] = c.dict.int(uint32(v))
		default:
			dst[k] = c.numbers.Int(v)
		}
	}
}

// decs sets dst to the values of packed ones.
func (c *Column) decs(dst []Dec, packed *[bulk]uint64) {
	if c.coded {
		null := uint64(c.dict.len())
		for k := range dst {
			if v := packed[k&(bulk-1)]; c.Nullable && v == null {
				dst[k] = Dec{Scale: DecNull}
			} else {
				dst[k] = c.dict.dec(uint32(v))
			}
		}
		return
	}
	for k := range dst {
		dst[k] = c.numbers.Dec(packed[k&(bulk-1)])
	}
}
