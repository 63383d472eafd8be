package render

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strconv"
)

// pairs holds the two digits of each number from 0 to 99, so that two digits take one division.
const pairs = "0001020304050607080910111213141516171819" +
	"2021222324252627282930313233343536373839" +
	"4041424344454647484950515253545556575859" +
	"6061626364656667686970717273747576777879" +
	"8081828384858687888990919293949596979899"

var powersOfTen = [20]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// cellSize is enough for any number. Numbers are written from the end to the front of a cell, so
// that digits need not be counted or moved.
const cellSize = 32

// putUint writes the digits of u before position i and returns where they start.
func putUint(b *[cellSize]byte, i int, u uint64) int {
	for u >= 100 {
		q := u / 100
		r := (u - q*100) * 2
		b[(i-1)&(cellSize-1)], b[(i-2)&(cellSize-1)] = pairs[r+1], pairs[r]
		u = q
		i -= 2
	}
	if u >= 10 {
		b[(i-1)&(cellSize-1)], b[(i-2)&(cellSize-1)] = pairs[u*2+1], pairs[u*2]
		return i - 2
	}
	b[(i-1)&(cellSize-1)] = '0' + byte(u)
	return i - 1
}

// fewDigits is the number of digits computed at once. Most numbers have no more.
const fewDigits = 8

const asciiZeros = 0x3030303030303030

// eightDigits returns the digits of u, which must be below 10^8, with the most significant in the
// lowest byte, which comes first in memory. Halves, pairs and digits are separated by one
// multiplication each, so there is no loop with an unpredictable end.
func eightDigits(u uint64) uint64 {
	halves := u/10_000 | u%10_000<<32
	high := halves * 10_486 >> 20 & 0x7f_0000_007f
	pairs := high | (halves-high*100)<<16
	high = pairs * 103 >> 10 & 0x000f_000f_000f_000f
	return (high | (pairs-high*10)<<8) + asciiZeros
}

// significant returns the number of digits without leading zeros, of eight.
func significant(digits uint64) int {
	return fewDigits - bits.TrailingZeros64(digits-asciiZeros)>>3
}

// putInt writes v at the end of b and returns where it starts.
func putInt(b *[cellSize]byte, v int64) int {
	if uint64(v) < powersOfTen[fewDigits] {
		digits := eightDigits(uint64(v))
		binary.LittleEndian.PutUint64(b[cellSize-8:], digits)
		return cellSize - max(significant(digits), 1)
	}
	if v >= 0 {
		return putUint(b, cellSize, uint64(v))
	}
	i := putUint(b, cellSize, -uint64(v)) - 1
	b[i] = '-'
	return i
}

// Python's repr of a float uses the exponent form from 1e16 on and below 1e-4.
const (
	plainDigits = 16
	plainZeros  = 4
)

// putDec writes a decimal at the end of b and returns where it starts. The result is the shortest
// text that reads back as the same float64, in the form of Python's repr, always with a point or an
// exponent. The mantissa of a Dec has the digits of that text (see snapshot.Dec), so no float is
// needed.
func putDec(b *[cellSize]byte, mantissa int64, scale uint8) int {
	u := uint64(mantissa)
	if mantissa < 0 {
		u = -u
	}
	i := cellSize
	switch form := &decForms[scale]; {
	case u-form.least < form.span:
		i = putPlain(b, u*form.times, form.point)
	case scale == 0 && u < powersOfTen[plainDigits]:
		b[cellSize-1], b[cellSize-2] = '0', '.'
		i = putUint(b, cellSize-2, u)
	case scale == 0,
		scale > plainZeros && u < powersOfTen[scale-plainZeros],
		scale < 20-plainDigits && u >= powersOfTen[scale+plainDigits]:
		i = putExponent(b, u, -int(scale))
	default:
		n := scale
		for ; n >= 2; n -= 2 {
			q := u / 100
			r := (u - q*100) * 2
			b[(i-1)&(cellSize-1)], b[(i-2)&(cellSize-1)] = pairs[r+1], pairs[r]
			u = q
			i -= 2
		}
		if n == 1 {
			q := u / 10
			b[(i-1)&(cellSize-1)] = '0' + byte(u-q*10)
			u = q
			i--
		}
		b[(i-1)&(cellSize-1)] = '.'
		i = putUint(b, i-1, u)
	}
	if mantissa < 0 {
		i--
		b[i&(cellSize-1)] = '-'
	}
	return i
}

// decForm says which decimals of a scale putPlain writes: those whose absolute mantissa is from
// least to least+span-1. putPlain takes the mantissa multiplied by times, and point digits after
// the point.
type decForm struct{ least, span, times, point uint64 }

// decForms holds the form of each scale. Nearly all decimals are plain, so the check of the bounds
// is predictable. For reserved scales span is 0.
var decForms = func() (forms [256]decForm) {
	for scale := range uint64(fewDigits + 1) {
		f := decForm{span: powersOfTen[plainDigits-1], times: 1, point: scale}
		if scale == 0 {
			f.times, f.point = 10, 1
		}
		if scale > plainZeros {
			f.least = powersOfTen[scale-plainZeros]
		}
		f.span -= f.least
		forms[scale] = f
	}
	return forms
}()

// putPlain writes u in the plain form, with scale digits after the point: 1 to fewDigits, and at
// most 16 digits in total. A mask and a shift make room for the point among the lower eight digits.
func putPlain(b *[cellSize]byte, u, scale uint64) int {
	high, n := uint64(asciiZeros), 0
	if u >= powersOfTen[fewDigits] {
		q := u / 100_000_000
		u -= q * 100_000_000
		high = eightDigits(q)
		n = significant(high)
	}
	digits := eightDigits(u)
	if n > 0 {
		n += fewDigits
	} else {
		n = significant(digits)
	}
	point := (fewDigits - scale) * 8 & 63
	whole := digits & (1<<point - 1)
	binary.LittleEndian.PutUint64(b[cellSize-17:], high)
	binary.LittleEndian.PutUint64(b[cellSize-9:], whole|'.'<<point|(digits-whole)<<8)
	b[cellSize-1] = byte(digits >> 56)
	return cellSize - 1 - max(n, int(scale)+1)
}

// putExponent writes u * 10^exponent in the exponent form, "1e-05" or "1.25e+16", which few numbers
// need.
func putExponent(b *[cellSize]byte, u uint64, exponent int) int {
	for u >= 10 && u%10 == 0 {
		u /= 10
		exponent++
	}
	digits := strconv.AppendUint(nil, u, 10)
	exponent += len(digits) - 1
	text := digits[:1:1]
	if len(digits) > 1 {
		text = append(append(text, '.'), digits[1:]...)
	}
	text = fmt.Appendf(text, "e%+03d", exponent)
	return cellSize - copy(b[cellSize-len(text):], text)
}

func appendInt(dst []byte, v int64) []byte {
	var b [cellSize]byte
	return append(dst, b[putInt(&b, v):]...)
}

func appendDec(dst []byte, mantissa int64, scale uint8) []byte {
	var b [cellSize]byte
	return append(dst, b[putDec(&b, mantissa, scale):]...)
}

// appendFloat writes f in the same form, for the few decimals that do not fit a Dec.
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

// appendExact writes a decimal that is stored as text. One beyond the range of float64 keeps its
// exact digits, which are a JSON number too.
func appendExact(dst []byte, text string) []byte {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return append(dst, text...)
	}
	return appendFloat(dst, f)
}
