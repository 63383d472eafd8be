package encode

import "github.com/klauspost/crc32"

// The CRC of a body is combined from the CRCs of its stored blocks:
//
//	crc(AB) = crc(A)·x^(8·len(B)) + crc(B)
//
// Numbers are polynomials modulo that of gzip's CRC-32. Bit 31 is the coefficient of x^0, as in the
// CRC itself.

// crcMultiply returns a·b in a third of the time that it takes bit by bit: a page of 10,000 rows
// has 80 blocks, and each needs a product that depends on the one before.
func crcMultiply(a, b uint32) uint32 {
	product := crcProduct(a, b) << 1 // the upper half is the coefficients of x^0 to x^31
	high := uint32(product)          // times x^32
	return uint32(product>>32) ^
		crcBytes[3][high&0xff] ^ crcBytes[2][high>>8&0xff] ^ crcBytes[1][high>>16&0xff] ^ crcBytes[0][high>>24]
}

// crcProduct returns a·b before it is reduced: bit 62 is the coefficient of x^0. Each factor is
// four numbers, of every fourth bit. In a product of two of them at most eight bits are added up in
// one place, and the sum fits into the four bits up to the next.
func crcProduct(a, b uint32) uint64 {
	const bits, all = 0x11111111, 0x1111111111111111
	a0, a1, a2, a3 := uint64(a&bits), uint64(a&(bits<<1)), uint64(a&(bits<<2)), uint64(a&(bits<<3))
	b0, b1, b2, b3 := uint64(b&bits), uint64(b&(bits<<1)), uint64(b&(bits<<2)), uint64(b&(bits<<3))
	return (a0*b0^a1*b3^a2*b2^a3*b1)&all |
		(a0*b1^a1*b0^a2*b3^a3*b2)&(all<<1) |
		(a0*b2^a1*b1^a2*b0^a3*b3)&(all<<2) |
		(a0*b3^a1*b2^a2*b1^a3*b0)&(all<<3)
}

// crcBytes are the CRCs of a byte that one to four zero bytes follow.
var crcBytes = func() (t [4]crc32.Table) {
	t[0] = *crc32.IEEETable
	for k := 1; k < len(t); k++ {
		for i, crc := range t[k-1] {
			t[k][i] = crc>>8 ^ t[0][crc&0xff]
		}
	}
	return t
}()

// crcPowers are x^(2^k).
var crcPowers = func() (p [32]uint32) {
	p[0] = 1 << 30
	for k := 1; k < len(p); k++ {
		p[k] = crcMultiply(p[k-1], p[k-1])
	}
	return p
}()

// crcShift returns x^(8·n), the factor of a CRC that n bytes follow.
func crcShift(n int) uint32 {
	p := uint32(1 << 31)
	for k := 3; n > 0; k, n = k+1, n>>1 {
		if n&1 != 0 {
			p = crcMultiply(crcPowers[k&31], p)
		}
	}
	return p
}

// crcShifts are x^(8·n) and x^(8·256·n).
var crcShifts = func() (t [2][256]uint32) {
	for i, step := range []uint32{crcShift(1), crcShift(256)} {
		t[i][0] = 1 << 31
		for n := 1; n < len(t[i]); n++ {
			t[i][n] = crcMultiply(t[i][n-1], step)
		}
	}
	return t
}()

// crcShort is crcShift of a number below 64 K, by one product.
func crcShort(n uint32) uint32 { return crcMultiply(crcShifts[1][n>>8&0xff], crcShifts[0][n&0xff]) }
