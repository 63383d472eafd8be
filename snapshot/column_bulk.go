package snapshot

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

// Load reads the packed code or number at position i, so that it is in the cache when it is needed.
// The result has no other meaning.
func (c *Column) Load(i uint32) uint64 {
	packed := c.numbers.packed
	if c.coded {
		packed = c.codes
	}
	if packed.width == 0 {
		return 0
	}
	return packed.Load(i)
}

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
	packed := c.numbers.packed
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
			dst[k] = c.numbers.intOf(v)
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
		dst[k] = c.numbers.decOf(packed[k&(bulk-1)])
	}
}
