package snapshot

import "math/bits"

// packedNumbers are the numbers of a column without a dictionary: packed differences from the
// smallest, with 0 for null among ints, and a scale in the lowest bits of each decimal.
type packedNumbers struct {
	packed Packed
	base   int64
	// first is the packed number of base: 1 in a nullable column of ints.
	first uint64

	scales    [1 << 5]uint8 // MaxScale+1 ordinary ones, two reserved, rounded up to a power of two
	scaleBits int
	count     int // of scales
	decimal   bool
}

// scaledHead is the number of bytes before the numbers of a scaled block.
const scaledHead = 24

func (p *packedNumbers) isNull(i uint32) bool {
	v := p.packed.At(i)
	if p.decimal {
		return p.scales[v&(1<<p.scaleBits-1)] == DecNull
	}
	return v == 0
}

func (p *packedNumbers) int(i uint32) int64 { return p.intOf(p.packed.At(i)) }

func (p *packedNumbers) dec(i uint32) Dec { return p.decOf(p.packed.At(i)) }

// intOf returns the int that is packed as v.
func (p *packedNumbers) intOf(v uint64) int64 { return int64(uint64(p.base) + v - p.first) }

// decOf returns the decimal that is packed as v. The mantissa of null is 0, that of an exact text
// its position.
func (p *packedNumbers) decOf(v uint64) Dec {
	scale := p.scales[v&(1<<(p.scaleBits&63)-1)%uint64(len(p.scales))]
	v >>= p.scaleBits & 63
	if scale <= MaxScale {
		v += uint64(p.base)
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

func openInts(b *block, data []byte, n int, nullable bool, r *reading) (packedNumbers, error) {
	p, err := openPacked(b, data, n)
	if err != nil {
		return packedNumbers{}, err
	}
	num := packedNumbers{packed: p, base: b.base}
	if nullable {
		num.first = 1
	}
	if b.encoding != encPacked || b.base == NullInt {
		return packedNumbers{}, corruptf("ints in encoding %s with base %d", b.encoding, b.base)
	}
	most := uint64(1<<63-1) - uint64(b.base) + num.first
	if !p.within(most, r) {
		return packedNumbers{}, corruptf("base %d plus a number is beyond 64 bits", b.base)
	}
	return num, nil
}

func openDecimals(
	b *block, data []byte, n int, nullable bool, exact *exactTexts, r *reading,
) (packedNumbers, error) {
	if b.encoding != encScaled || len(data) < scaledHead {
		return packedNumbers{}, corruptf("decimals in encoding %s with %d bytes", b.encoding, len(data))
	}
	num := packedNumbers{base: b.base, decimal: true, count: int(data[0])}
	count := num.count
	if count > MaxScale+3 {
		return packedNumbers{}, corruptf("%d scales, there are at most %d", count, MaxScale+3)
	}
	hasNull := false
	for k, scale := range data[1:scaledHead] {
		switch {
		case k >= count && scale != 0,
			k < count && scale > MaxScale && scale != DecText && scale != DecNull,
			k > 0 && k < count && scale <= data[k]:
			return packedNumbers{}, corruptf("scale %d of %d is %d", k, count, scale)
		case k < count:
			num.scales[k] = scale
			hasNull = hasNull || scale == DecNull
		}
	}
	if hasNull != nullable || count == 0 && n > 0 {
		return packedNumbers{}, corruptf("%d scales for %d decimals; with null: %v, want %v", count, n, hasNull,
			nullable)
	}
	if count > 0 {
		num.scaleBits = bits.Len(uint(count - 1))
	}
	var err error
	if num.packed, err = openPacked(b, data[scaledHead:], n); err != nil {
		return packedNumbers{}, err
	}
	return num, num.checkDecimals(exact, r)
}

// decimalBounds are what each position of a scale allows. Positions after the last scale allow no
// number.
type decimalBounds struct {
	most            [1 << 5]uint64 // the largest number above the bits of the scale
	known, fraction [1 << 5]bool   // of a fraction the mantissa must not end in 0
}

func (p *packedNumbers) bounds(exact *exactTexts) (b decimalBounds) {
	for k, scale := range p.scales[:p.count] {
		b.known[k] = true
		switch {
		case scale == DecText && exact.n > 0:
			b.most[k] = uint64(exact.n - 1)
		case scale == DecText:
			b.known[k] = false
		case scale <= MaxScale:
			b.most[k] = uint64(1<<63-1) - uint64(p.base)
			b.fraction[k] = scale > 0
		}
	}
	return b
}

// checkDecimals checks each value: unlike codes they have three bounds at once.
func (p *packedNumbers) checkDecimals(exact *exactTexts, r *reading) error {
	b := p.bounds(exact)
	if p.packed.width > 0 && p.packed.width <= maxLoad && p.allPass(&b, r) {
		return nil
	}
	return p.checkEach(&b, exact)
}

// checkEach is allPass for numbers of any width. The error is about the first that does not pass.
func (p *packedNumbers) checkEach(b *decimalBounds, exact *exactTexts) error {
	mask := uint64(1)<<p.scaleBits - 1
	n := p.packed.n
	if p.packed.width == 0 {
		n = min(n, 1) // all are the same, and no byte bounds their number
	}
	for i := range uint32(n) {
		v := p.packed.At(i)
		k := v & mask % uint64(len(b.most))
		v >>= p.scaleBits
		if !b.known[k] || v > b.most[k] || b.fraction[k] && int64(uint64(p.base)+v)%10 == 0 {
			return corruptf("decimal %d: number %d, base %d, scale %d at %d of %d, %d exact texts", i, v, p.base,
				p.scales[k], k, p.count, exact.n)
		}
	}
	return nil
}

// allPass reports whether all numbers, of at most maxLoad bits, are within the bounds. It has no
// branch for each: what is out of bounds makes a difference negative, and the highest bits of all
// differences are collected.
//
// A number is a multiple of ten if its product with the inverse of 5 modulo 2^64, rotated right by
// one bit, is at most a tenth of 2^64. Shifted by one bit more, that bound can be subtracted from
// it.
func (p *packedNumbers) allPass(b *decimalBounds, r *reading) bool {
	const inverse, multiple = 0xcccccccccccccccd, (1<<64/10)>>1 + 1
	var room, tens [1 << 5]uint64
	for k := range room {
		room[k] = min(b.most[k], 1<<62) // more than any number
		if !b.known[k] {
			room[k] = 1<<64 - 1
		}
		if b.fraction[k] {
			tens[k] = multiple
		}
	}
	// Only the last digit counts. With a base that is not negative it is that of the sum.
	base := uint64((p.base%10 + 10) % 10)
	scale, scaleBits := uint64(1)<<p.scaleBits-1, p.scaleBits&63
	var space [bulk]uint64
	var negative uint64
	for from := 0; from < p.packed.n; from += bulk {
		numbers := space[:min(bulk, p.packed.n-from)]
		r.to(scaledHead + (from+len(numbers))*int(p.packed.width)/8 + packedPad)
		p.packed.Unpack64(numbers, uint32(from))
		for _, v := range numbers {
			k := v & scale % uint64(len(room))
			v >>= scaleBits
			negative |= room[k] - v
			negative |= bits.RotateLeft64((base+v)*inverse, -1)>>1 - tens[k]
		}
	}
	return negative>>63 == 0
}
