package snapshot

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
	numbers  packedNumbers
	exact    exactTexts
	size     ColumnSize
}

// Len is the number of positions: the segment's rows, or the group's tuples.
func (c *Column) Len() int { return c.n }

// Coded reports whether the column is stored as codes into a dictionary. Text, Enum, Bool and Time
// always are, Int and Decimal where values repeat often enough. Codes order like values (Enum: as
// declared). Null has the code Cardinality, so nulls sort last.
func (c *Column) Coded() bool { return c.coded }

// Cardinality is the number of distinct non-null values of a coded column (for Enum: of declared
// values).
func (c *Column) Cardinality() int { return c.dict.len() }

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
	return c.Nullable && c.numbers.isNull(i)
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
	return c.numbers.int(i)
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
	return c.numbers.dec(i)
}

// DecString is the exact text of a Dec of this column, in plain digits.
func (c *Column) DecString(d Dec) string {
	if d.Scale == DecText {
		return c.exact.at(uint32(d.Mantissa))
	}
	return d.String()
}

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
