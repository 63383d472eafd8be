package snapshot

// bulk is how many numbers are taken out of a column at a time.
const bulk = 64

// Ints sets dst to the values at positions from, from+1, ... of an Int, Bool or Time column, as Int would one by one.
func (c *Column) Ints(dst []int64, from uint32) {
	var space [bulk]uint64
	for len(dst) > 0 {
		n := min(len(dst), bulk)
		c.unpack(space[:n], from)
		c.ints(dst[:n], &space)
		dst, from = dst[n:], from+uint32(n)
	}
}

// IntsAt is Ints for the positions of at, as many as dst has room for.
func (c *Column) IntsAt(dst []int64, at []uint32) {
	var space [bulk]uint64
	for len(dst) > 0 {
		n := min(len(dst), bulk)
		c.gather(space[:n], at[:n])
		c.ints(dst[:n], &space)
		dst, at = dst[n:], at[n:]
	}
}

// Decs sets dst to the values at positions from, from+1, ... of a Decimal column, as Dec would one by one.
func (c *Column) Decs(dst []Dec, from uint32) {
	var space [bulk]uint64
	for len(dst) > 0 {
		n := min(len(dst), bulk)
		c.unpack(space[:n], from)
		c.decs(dst[:n], &space)
		dst, from = dst[n:], from+uint32(n)
	}
}

// DecsAt is Decs for the positions of at, as many as dst has room for.
func (c *Column) DecsAt(dst []Dec, at []uint32) {
	var space [bulk]uint64
	for len(dst) > 0 {
		n := min(len(dst), bulk)
		c.gather(space[:n], at[:n])
		c.decs(dst[:n], &space)
		dst, at = dst[n:], at[n:]
	}
}

// packedValues are what the positions hold: codes, or numbers.
func (c *Column) packedValues() Packed {
	if c.coded {
		return c.codes
	}
	return c.numbers.packed
}

func (c *Column) unpack(dst []uint64, from uint32) { c.packedValues().Unpack64(dst, from) }

func (c *Column) gather(dst []uint64, at []uint32) { c.packedValues().Gather64(dst, at) }

// ints sets dst to the values of packed ones.
func (c *Column) ints(dst []int64, packed *[bulk]uint64) {
	null, more := uint64(0), uint64(c.numbers.base)-c.numbers.first
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
			dst[k] = int64(v + more)
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
	n := &c.numbers
	scaleBits := n.scaleBits & 63
	mask := uint64(1)<<scaleBits - 1
	for k := range dst {
		v := packed[k&(bulk-1)]
		scale := n.scales[v&mask%uint64(len(n.scales))]
		v >>= scaleBits
		if scale <= MaxScale {
			v += uint64(n.base)
		}
		dst[k] = Dec{int64(v), scale}
	}
}
