package snapshot

import "math/bits"

// Numbers are the packed values of an Int or Decimal column without a dictionary, for scans that
// compare packed numbers and decode none. For a number v of Packed, with k = v mod 2^ScaleBits:
//
//	Int       null if First is 1 and v is 0; else Base + v - First (Scales is empty)
//	Decimal   null, exact text or ordinary, by Scales[k]; the mantissa of an ordinary one is
//	          Base + v>>ScaleBits, the position of an exact text is v>>ScaleBits
type Numbers struct {
	Packed    Packed
	Base      int64
	First     uint64  // the packed number of Base: 1 in a nullable column of ints
	Scales    []uint8 // ascending
	ScaleBits int
}

// maxScales is MaxScale+1 ordinary scales and two reserved ones, rounded up to a power of two.
const maxScales = 1 << 5

// scaledHead is the number of bytes before the numbers of a scaled block.
const scaledHead = 24

// Numbers returns the packed values of a column that is not Coded.
func (c *Column) Numbers() *Numbers { return &c.numbers }

// IsNull reports whether v is null.
func (n *Numbers) IsNull(v uint64) bool {
	if len(n.Scales) > 0 {
		return n.Scales[v&(1<<n.ScaleBits-1)] == DecNull
	}
	return n.First == 1 && v == 0
}

// Int is the int that is packed as v.
func (n *Numbers) Int(v uint64) int64 { return int64(uint64(n.Base) + v - n.First) }

// Dec is the number that is packed as v, as a decimal. The mantissa of null is 0, that of an exact
// text its position.
func (n *Numbers) Dec(v uint64) Dec {
	if len(n.Scales) == 0 {
		return Dec{Mantissa: n.Int(v)}
	}
	scale := n.Scales[v&(1<<(n.ScaleBits&63)-1)]
	v >>= n.ScaleBits & 63
	if scale <= MaxScale {
		v += uint64(n.Base)
	}
	return Dec{int64(v), scale}
}

func openPacked(b *block, data []byte, n int) (Packed, error) {
	width := int(b.width)
	switch {
	case b.encoding != encPacked && b.encoding != encScaled:
		return Packed{}, corruptf("encoding %s where numbers are expected", b.encoding)
	case width > maxLoad && width != 64:
		return Packed{}, corruptf("numbers of %d bits, the widest are %d or 64", width, maxLoad)
	case int(b.count) != n:
		return Packed{}, corruptf("%d numbers for %d positions", b.count, n)
	case uint64(len(data)) != packedSize(n, width):
		return Packed{}, corruptf("%d numbers of %d bits take %d bytes, the block has %d", n, width,
			packedSize(n, width), len(data))
	}
	p := newPacked(data, n, width)
	if !p.padded() {
		return Packed{}, corruptf("padding of %d numbers of %d bits is not zero", n, width)
	}
	return p, nil
}

// openCodes opens codes below codes. Without any value there must be no position.
func openCodes(b *block, data []byte, n, codes int, r *reading) (Packed, error) {
	p, err := openPacked(b, data, n)
	if err != nil {
		return Packed{}, err
	}
	if codes == 0 {
		if n > 0 {
			return Packed{}, corruptf("%d codes into an empty dictionary", n)
		}
		return p, nil
	}
	if b.width > 32 || b.encoding != encPacked || b.base != 0 {
		return Packed{}, corruptf("codes of %d bits, encoding %s, base %d", b.width, b.encoding, b.base)
	}
	if !p.within(uint64(codes-1), r) {
		return Packed{}, corruptf("a code is above the last, %d", codes-1)
	}
	return p, nil
}

func openInts(b *block, data []byte, n int, nullable bool, r *reading) (Numbers, error) {
	p, err := openPacked(b, data, n)
	if err != nil {
		return Numbers{}, err
	}
	num := Numbers{Packed: p, Base: b.base}
	if nullable {
		num.First = 1
	}
	if b.encoding != encPacked || b.base == NullInt {
		return Numbers{}, corruptf("ints in encoding %s with base %d", b.encoding, b.base)
	}
	most := uint64(1<<63-1) - uint64(b.base) + num.First
	if !p.within(most, r) {
		return Numbers{}, corruptf("base %d plus a number is beyond 64 bits", b.base)
	}
	return num, nil
}

func openDecimals(
	b *block, data []byte, n int, nullable bool, exact *exactTexts, r *reading,
) (Numbers, error) {
	if b.encoding != encScaled || len(data) < scaledHead {
		return Numbers{}, corruptf("decimals in encoding %s with %d bytes", b.encoding, len(data))
	}
	num, count := Numbers{Base: b.base}, int(data[0])
	if count > MaxScale+3 {
		return Numbers{}, corruptf("%d scales, there are at most %d", count, MaxScale+3)
	}
	hasNull := false
	for k, scale := range data[1:scaledHead] {
		switch {
		case k >= count && scale != 0,
			k < count && scale > MaxScale && scale != DecText && scale != DecNull,
			k > 0 && k < count && scale <= data[k]:
			return Numbers{}, corruptf("scale %d of %d is %d", k, count, scale)
		case k < count:
			num.Scales = append(num.Scales, scale)
			hasNull = hasNull || scale == DecNull
		}
	}
	if hasNull != nullable || count == 0 && n > 0 {
		return Numbers{}, corruptf("%d scales for %d decimals; with null: %v, want %v", count, n, hasNull,
			nullable)
	}
	if count > 0 {
		num.ScaleBits = bits.Len(uint(count - 1))
	}
	var err error
	if num.Packed, err = openPacked(b, data[scaledHead:], n); err != nil {
		return Numbers{}, err
	}
	return num, num.checkDecimals(exact, r)
}

// decimalBounds are what each position of a scale allows. Positions after the last scale allow no
// number.
type decimalBounds struct {
	most            [maxScales]uint64 // the largest number above the bits of the scale
	known, fraction [maxScales]bool   // of a fraction the mantissa must not end in 0
}

func (p *Numbers) bounds(exact *exactTexts) (b decimalBounds) {
	for k, scale := range p.Scales {
		b.known[k] = true
		switch {
		case scale == DecText && exact.n > 0:
			b.most[k] = uint64(exact.n - 1)
		case scale == DecText:
			b.known[k] = false
		case scale <= MaxScale:
			b.most[k] = uint64(1<<63-1) - uint64(p.Base)
			b.fraction[k] = scale > 0
		}
	}
	return b
}

// checkDecimals checks each value: unlike codes they have three bounds at once. It reads the block
// through r. What is out of bounds makes a difference negative: without a branch for each number
// that takes a seventh less time. Where a difference of 64 numbers is, checkExactly decides.
//
// A number is a multiple of ten if its product with the inverse of 5 modulo 2^64, rotated right by
// one bit, is at most a tenth of 2^64. Shifted by one bit more, that bound can be subtracted.
func (p *Numbers) checkDecimals(exact *exactTexts, r *reading) error {
	const inverse, multiple = 0xcccccccccccccccd, (1<<64/10)>>1 + 1
	b, mask, n := p.bounds(exact), uint64(1)<<p.ScaleBits-1, p.Packed.n
	if p.Packed.width == 0 {
		n = min(n, 1) // all are the same, and no byte bounds their number
	}
	var room, tens [maxScales]uint64
	for k := range room {
		room[k] = min(b.most[k], 1<<62)
		if !b.known[k] {
			room[k] = 1<<64 - 1 // less any number: negative
		}
		if b.fraction[k] {
			tens[k] = multiple
		}
	}
	lastDigit, scaleBits := uint64((p.Base%10+10)%10), p.ScaleBits&63
	var space [bulk]uint64
	for from := 0; from < n; from += bulk {
		numbers := space[:min(bulk, n-from)]
		r.to(scaledHead + (from+len(numbers))*int(p.Packed.width)/8 + packedPad)
		p.Packed.Unpack64(numbers, uint32(from))
		negative := uint64(0)
		for _, v := range numbers {
			k := v & mask % maxScales
			v >>= scaleBits
			negative |= room[k] - v | v
			negative |= bits.RotateLeft64((lastDigit+v)*inverse, -1)>>1 - tens[k]
		}
		if negative>>63 != 0 {
			if err := p.checkExactly(&b, from, numbers, exact); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkExactly is checkDecimals for a few numbers, the first of which is at from.
func (p *Numbers) checkExactly(b *decimalBounds, from int, numbers []uint64, exact *exactTexts) error {
	for i, v := range numbers {
		k := v & (1<<p.ScaleBits - 1) % maxScales
		v >>= p.ScaleBits & 63
		if !b.known[k] || v > b.most[k] || b.fraction[k] && int64(uint64(p.Base)+v)%10 == 0 {
			return corruptf("decimal %d: number %d, base %d, scale %d of %v, %d exact texts", from+i, v, p.Base, k,
				p.Scales, exact.n)
		}
	}
	return nil
}
