package render

import (
	"math"
	"math/bits"
	"strconv"
)

// pairs holds the two digits of 0 to 99, so that a number takes one division for two digits.
const pairs = "0001020304050607080910111213141516171819" +
	"2021222324252627282930313233343536373839" +
	"4041424344454647484950515253545556575859" +
	"6061626364656667686970717273747576777879" +
	"8081828384858687888990919293949596979899"

var powersOfTen = [20]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// maxDigits is the most digits a uint64 has.
const maxDigits = 20

// countDigits is the number of decimal digits of u, 1 for 0.
func countDigits(u uint64) int {
	n := bits.Len64(u|1) * 1233 >> 12 // log10(2) is about 1233/4096
	if u >= powersOfTen[n] {
		n++
	}
	return max(n, 1)
}

// putDigits writes u right-aligned into the n bytes of b, n being countDigits(u) or more; the rest is filled with zeros.
func putDigits(b []byte, u uint64) {
	i := len(b)
	for i >= 2 {
		q := u / 100
		r := (u - q*100) * 2
		b[i-1], b[i-2] = pairs[r+1], pairs[r]
		u = q
		i -= 2
	}
	if i == 1 {
		b[0] = '0' + byte(u)
	}
}

// extend lengthens dst by n bytes of any content.
func extend(dst []byte, n int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst[:len(dst)+n]
	}
	return append(dst, make([]byte, n)...)
}

// appendInt writes v in decimal.
func appendInt(dst []byte, v int64) []byte {
	u := uint64(v)
	if v < 0 {
		dst = append(dst, '-')
		u = -u
	}
	if u < 10 {
		return append(dst, '0'+byte(u))
	}
	n := countDigits(u)
	dst = extend(dst, n)
	putDigits(dst[len(dst)-n:], u)
	return dst
}

// Where Python's repr of a float turns to the exponent form: 1e16 is the first such power above one, 1e-05 the first below.
const (
	maxPlainPoint = 16
	minPlainPoint = -3
)

// appendDec writes a decimal as the shortest float64 that reads back as the same number, in the form of Python's repr: always with a
// point or an exponent. For an ordinary Dec the digits of the mantissa are the digits of that float (see snapshot.Dec), so no float is
// involved.
func appendDec(dst []byte, mantissa int64, scale uint8) []byte {
	u := uint64(mantissa)
	if mantissa < 0 {
		dst = append(dst, '-')
		u = -u
	}
	n := countDigits(u)
	point := n - int(scale) // digits in front of the decimal point
	switch {
	case point > 0 && point <= maxPlainPoint && scale > 0:
		dst = extend(dst, n+1)
		b := dst[len(dst)-n-1:]
		putDigits(b[1:], u)
		// The digits in front of the point move up by one to make room for it.
		for i := 0; i < point; i++ {
			b[i] = b[i+1]
		}
		b[point] = '.'
		return dst
	case scale == 0 && point <= maxPlainPoint:
		dst = extend(dst, n+2)
		b := dst[len(dst)-n-2:]
		putDigits(b[:n], u)
		b[n], b[n+1] = '.', '0'
		return dst
	case point <= 0 && point >= minPlainPoint:
		dst = append(dst, "0.000"[:2-point]...)
		dst = extend(dst, n)
		putDigits(dst[len(dst)-n:], u)
		return dst
	}
	var digits [maxDigits]byte
	putDigits(digits[:n], u)
	return appendExponent(dst, digits[:n], point)
}

// appendExponent writes 0.digits * 10^point in exponent form: "1e-05", "1.25e+16".
func appendExponent(dst, digits []byte, point int) []byte {
	for len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	dst = append(dst, digits[0])
	if len(digits) > 1 {
		dst = append(dst, '.')
		dst = append(dst, digits[1:]...)
	}
	exponent := point - 1
	sign := byte('+')
	if exponent < 0 {
		sign = '-'
		exponent = -exponent
	}
	dst = append(dst, 'e', sign)
	if exponent < 10 {
		dst = append(dst, '0')
	}
	return appendInt(dst, int64(exponent))
}

// appendFloat writes f in the same form, for the few decimals that no ordinary Dec holds.
func appendFloat(dst []byte, f float64) []byte {
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if f == math.Trunc(f) {
		dst = append(dst, ".0"...)
	}
	return dst
}

// appendExact writes a decimal that stands in a column as text. One beyond the range of float64 keeps its exact digits, which are a JSON
// number too; there is no shortest float to print.
func appendExact(dst []byte, text string) []byte {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return append(dst, text...)
	}
	return appendFloat(dst, f)
}
