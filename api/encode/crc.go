package encode

// The CRC of a body is combined from the CRCs of its stored blocks:
//
//	crc(AB) = crc(A)·x^(8·len(B)) + crc(B)
//
// Numbers are polynomials modulo that of gzip's CRC-32. Bit 31 is the coefficient of x^0, as in the
// CRC itself.
const crcPolynomial = 0xedb88320

// crcMultiply returns a·b.
func crcMultiply(a, b uint32) uint32 {
	product := uint32(0)
	for range 32 {
		product ^= b & -(a >> 31)
		a <<= 1
		b = b>>1 ^ crcPolynomial&-(b&1)
	}
	return product
}

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
