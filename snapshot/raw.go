package snapshot

// Numbers are the values of an Int or Decimal column without a dictionary as they are packed, for scans that compare packed numbers and
// decode none. With a number v of Packed and its position k = v mod 2^ScaleBits in Scales:
//
//	Int       null when First is 1 and v is 0; else Base + v - First (there are no Scales)
//	Decimal   null, exact text or ordinary as Scales[k] says; the mantissa of an ordinary one is Base + v>>ScaleBits, the
//	          position of an exact text is v>>ScaleBits
type Numbers struct {
	Packed    Packed
	Base      int64
	First     uint64
	Scales    []uint8 // ascending
	ScaleBits int
}

// Numbers gives the packed values of a column that is not Coded.
func (c *Column) Numbers() Numbers {
	p := &c.numbers
	n := Numbers{Packed: p.packed, Base: p.base, First: p.first, ScaleBits: p.scaleBits}
	if p.decimal {
		n.Scales = p.scales[:p.count]
	}
	return n
}
