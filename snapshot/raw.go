package snapshot

import "encoding/binary"

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
		dst[k] = loadWord(data, bit>>3) >> (bit & 7) & mask
	}
}

// perLoad is how many numbers of a width Within and In take out of one load: 1, 2 or 4. Their loops
// are the same but for the test of a number, which must be inlined: with the numbers unpacked
// first, so that one loop could serve both, scanning numbers of 20 bits took 11 % longer.
func perLoad(width uint64) uint64 {
	switch {
	case width > maxLoad/2:
		return 1
	case width > maxLoad/4:
		return 2
	}
	return 4
}

// Within sets bit i of out for each i below n for which the number at position from+i is lo to
// lo+more. It leaves other bits unchanged. out has room for n bits.
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
	at := 0
	if n >= rangeRows && from&63 == 0 && p.width >= minMerged {
		at = p.inRange(from, n, lo, more, out)
	}
	lo32, more32 := uint32(lo), uint32(min(more, p.mask-lo))
	each := perLoad(p.width)
	bit, step := (uint64(from)+uint64(at))*p.width, each*p.width
	width, mask := p.width&63, uint32(p.mask)
	for ; at < n; at += 64 {
		// A value outside the span gives a negative 64-bit difference, so its sign bit is the
		// answer.
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

// In sets bit i of out for each i below n for which bit p.At(from+i) of set is one. It leaves other
// bits unchanged. out has room for n bits, set for every number in p.
func (p Packed) In(from uint32, n int, set, out []uint64) {
	if p.width > 32 || p.width == 0 {
		for i := range uint32(n) {
			if v := p.At(from + i); set[v>>6]>>(v&63)&1 != 0 {
				out[i>>6] |= 1 << (i & 63)
			}
		}
		return
	}
	each := perLoad(p.width)
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
