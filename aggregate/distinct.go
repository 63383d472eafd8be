package aggregate

import "math/bits"

// distinct keeps which values a group has: while that takes little memory, as one bit for each
// number of the coding, null's included, else as pairs of a group and a number.
type distinct struct {
	c     *column
	d     *coding    // nil for a column without a space, whose numbers are those of values
	words int        // of the bits of a group
	bits  [][]uint64 // by group, nil for one without rows
	used  int        // words of all groups

	pairs  *interner // group<<32 + number; nil while there are bits
	count  []uint32  // by group, once there are pairs
	values interner  // the tokens of a column without a space
	null   uint64    // and the token of null there
}

// maxBits is the most words of bits of all groups. Dictionaries have at most 2^32 values, so a pair
// fits 64 bits.
const maxBits = 1 << 20

func newDistinct(c *column) *distinct {
	d := &distinct{c: c}
	if c.space == nil {
		d.pairs, d.null = &interner{}, c.nullToken()
		return d
	}
	d.d = c.values()
	d.words = d.d.n/64 + 1
	return d
}

func (d *distinct) grow(groups int) {
	if d.pairs == nil {
		d.bits = grown(d.bits, groups)
	} else {
		d.count = grown(d.count, groups)
	}
}

// bitsOf are the bits of a group; nil if all would take more than maxBits, and there are pairs now.
func (d *distinct) bitsOf(id uint32) []uint64 {
	if d.bits[id] == nil {
		if d.used += d.words; d.used > maxBits {
			d.toPairs()
			return nil
		}
		d.bits[id] = make([]uint64, d.words)
	}
	return d.bits[id]
}

// toPairs replaces the bits.
func (d *distinct) toPairs() {
	d.pairs, d.count = &interner{}, make([]uint32, len(d.bits))
	for id, of := range d.bits {
		for i, word := range of {
			for ; word != 0; word &= word - 1 {
				d.see(uint32(id), uint32(i*64+bits.TrailingZeros64(word)))
			}
		}
	}
	d.bits = nil
}

// see adds a pair of a group and a number, unless it is that of null.
func (d *distinct) see(id, number uint32) {
	if d.d != nil && int(number) == d.d.n {
		return
	}
	before := len(d.pairs.keys)
	d.pairs.id(uint64(id)<<32 | uint64(number))
	d.count[id] += uint32(len(d.pairs.keys) - before)
}

func (d *distinct) add(b *block) error {
	if d.d == nil {
		for i, token := range b.tokens(d.c) {
			if token != d.null {
				d.see(b.group(i), d.values.id(token))
			}
		}
		return d.check()
	}
	lastID, lastCode := ^uint32(0), uint32(0)
	var of []uint64 // the bits of lastID
	for i, code := range b.codesOf(d.c.space) {
		id := b.group(i)
		if id == lastID && code == lastCode {
			continue
		}
		if id != lastID && d.pairs == nil {
			of = d.bitsOf(id)
		}
		lastID, lastCode = id, code
		if number := d.d.number(code); d.pairs == nil {
			of[number>>6] |= 1 << (number & 63)
		} else {
			d.see(id, number)
		}
	}
	return d.check()
}

func (d *distinct) check() error {
	if d.pairs != nil && len(d.pairs.keys) > maxPairs {
		return &TooManyValues{Column: d.c.col.Name, Max: maxPairs}
	}
	return nil
}

func (d *distinct) value(id uint32, _ Func, _ uint32) Value {
	if d.pairs != nil {
		return Value{Kind: Int, Int: int64(d.count[id])}
	}
	n := 0
	for k, word := range d.bits[id] {
		if k == d.d.n/64 {
			word &^= 1 << (d.d.n & 63)
		}
		n += bits.OnesCount64(word)
	}
	return Value{Kind: Int, Int: int64(n)}
}
