package snapshot

// Ints sets dst to the values at positions from, from+1, ... of an Int, Bool or Time column, as Int would one by one.
func (c *Column) Ints(dst []int64, from uint32) {
	if c.coded {
		for k := range dst {
			dst[k] = c.Int(from + uint32(k))
		}
		return
	}
	n := &c.numbers
	for k := range dst {
		v := n.packed.At(from + uint32(k))
		if c.Nullable && v == 0 {
			dst[k] = NullInt
			continue
		}
		dst[k] = int64(uint64(n.base) + v - n.first)
	}
}

// Decs sets dst to the values at positions from, from+1, ... of a Decimal column, as Dec would one by one.
func (c *Column) Decs(dst []Dec, from uint32) {
	if c.coded {
		for k := range dst {
			dst[k] = c.Dec(from + uint32(k))
		}
		return
	}
	for k := range dst {
		dst[k] = c.numbers.dec(from + uint32(k))
	}
}
