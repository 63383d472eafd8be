package aggregate

import "hdqs/snapshot"

// FullBytes estimates the memory of the Table of a segment once every column has been measured and
// grouped by.
func FullBytes(seg *snapshot.Segment) int64 {
	rows := int64(seg.Rows())
	n := int64(inputBytes(seg.Rows()))
	for _, c := range seg.Columns() {
		positions := int64(c.Len())
		coded := c.Group != nil || c.Coded()
		switch {
		case c.Group != nil:
			n += 4 * positions
		case coded:
			positions = int64(c.Cardinality())
		}
		if c.Kind != snapshot.Int && c.Kind != snapshot.Decimal {
			continue
		}
		if c.Kind == snapshot.Decimal {
			n += oddBytes * int64(c.ExactTexts())
		}
		if coded {
			n += (2*8 + 4 + 8) * positions // two limbs, nulls, the values that runs add
		}
		if c.Group == nil {
			n += 12 * rows / step
		}
	}
	return n
}

// Bytes is the memory of the Table: what it has made of columns so far.
func (t *Table) Bytes() int64 {
	return t.inputs.Bytes() + t.made.Load()
}
