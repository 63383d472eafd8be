package snapshot

import "encoding/binary"

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

// Unpack64 is Unpack for numbers of any width.
func (p Packed) Unpack64(dst []uint64, from uint32) {
	if p.width == 0 {
		clear(dst)
		return
	}
	width, mask := p.width, p.mask
	bit := uint64(from) * width
	for len(dst) >= 2 && width <= 28 {
		word := binary.LittleEndian.Uint64(p.data[bit>>3:]) >> (bit & 7)
		dst[0], dst[1] = word&mask, word>>(width&63)&mask
		dst = dst[2:]
		bit += 2 * width
	}
	for i := range dst {
		dst[i] = binary.LittleEndian.Uint64(p.data[bit>>3:]) >> (bit & 7) & mask
		bit += width
	}
}

// Gather64 is Gather for numbers of any width.
func (p Packed) Gather64(dst []uint64, at []uint32) {
	width, mask, data := p.width, p.mask, p.data
	dst = dst[:len(at)]
	for k, i := range at {
		bit := uint64(i) * width
		dst[k] = binary.LittleEndian.Uint64(data[bit>>3:]) >> (bit & 7) & mask
	}
}

// Within sets bit i of out for each i below n where the number at position from+i is lo to lo+more. It leaves other bits as they are; out has
// room for n bits.
func (p Packed) Within(from uint32, n int, lo, more uint64, out []uint64) {
	if p.width > 32 || p.width == 0 {
		for i := range uint32(n) {
			if p.At(from+i)-lo <= more {
				out[i>>6] |= 1 << (i & 63)
			}
		}
		return
	}
	if lo > p.mask {
		return
	}
	lo32, more32 := uint32(lo), uint32(min(more, p.mask-lo))
	each := uint64(4)
	switch {
	case p.width > 28:
		each = 1
	case p.width > 14:
		each = 2
	}
	bit, step := uint64(from)*p.width, each*p.width
	width, mask := p.width&63, uint32(p.mask)
	for at := 0; at < n; at += 64 {
		// A value outside the span gives a negative difference in 64 bits, so its sign is the answer, without a branch.
		var outside uint64
		count := min(64, n-at)
		i := 0
		for ; i+int(each) <= count; i += int(each) {
			word := binary.LittleEndian.Uint64(p.data[bit>>3:]) >> (bit & 7)
			bit += step
			outside |= (uint64(more32) - uint64(uint32(word)&mask-lo32)) >> 63 << (i & 63)
			if each == 1 {
				continue
			}
			word >>= width
			outside |= (uint64(more32) - uint64(uint32(word)&mask-lo32)) >> 63 << (i & 63) << 1
			if each == 2 {
				continue
			}
			word >>= width
			outside |= (uint64(more32) - uint64(uint32(word)&mask-lo32)) >> 63 << (i & 63) << 2
			word >>= width
			outside |= (uint64(more32) - uint64(uint32(word)&mask-lo32)) >> 63 << (i & 63) << 3
		}
		for ; i < count; i++ {
			word := binary.LittleEndian.Uint64(p.data[bit>>3:]) >> (bit & 7)
			bit += p.width
			outside |= (uint64(more32) - uint64(uint32(word)&mask-lo32)) >> 63 << (i & 63)
		}
		out[at>>6] |= ^outside & (^uint64(0) >> (64 - count))
	}
}

// In sets bit i of out for each i below n where bit p.At(from+i) of set is one. It leaves other bits as they are; out has room for n bits,
// set for every number there is.
func (p Packed) In(from uint32, n int, set, out []uint64) {
	if p.width > 32 || p.width == 0 {
		for i := range uint32(n) {
			if v := p.At(from + i); set[v>>6]>>(v&63)&1 != 0 {
				out[i>>6] |= 1 << (i & 63)
			}
		}
		return
	}
	each := uint64(4)
	switch {
	case p.width > 28:
		each = 1
	case p.width > 14:
		each = 2
	}
	bit, step := uint64(from)*p.width, each*p.width
	width, mask := p.width&63, uint32(p.mask)
	for at := 0; at < n; at += 64 {
		var inside uint64
		count := min(64, n-at)
		i := 0
		for ; i+int(each) <= count; i += int(each) {
			word := binary.LittleEndian.Uint64(p.data[bit>>3:]) >> (bit & 7)
			bit += step
			v := uint32(word) & mask
			inside |= set[v>>6] >> (v & 63) & 1 << (i & 63)
			if each == 1 {
				continue
			}
			word >>= width
			v = uint32(word) & mask
			inside |= set[v>>6] >> (v & 63) & 1 << (i & 63) << 1
			if each == 2 {
				continue
			}
			word >>= width
			v = uint32(word) & mask
			inside |= set[v>>6] >> (v & 63) & 1 << (i & 63) << 2
			word >>= width
			v = uint32(word) & mask
			inside |= set[v>>6] >> (v & 63) & 1 << (i & 63) << 3
		}
		for ; i < count; i++ {
			word := binary.LittleEndian.Uint64(p.data[bit>>3:]) >> (bit & 7)
			bit += p.width
			v := uint32(word) & mask
			inside |= set[v>>6] >> (v & 63) & 1 << (i & 63)
		}
		out[at>>6] |= inside
	}
}
