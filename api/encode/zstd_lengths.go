package encode

import "math/bits"

// lengthCode is the code of a length in a sequence: a symbol, the smallest length with that symbol,
// and the number of extra bits that distinguish its lengths. It is one number, so that it is read
// at once:
//
//	symbol 8 · extra bits 5 · smallest length 19
type lengthCode uint32

func newLengthCode(symbol, extraBits int, base uint32) lengthCode {
	return lengthCode(symbol) | lengthCode(extraBits)<<8 | lengthCode(base)<<13
}

func (c lengthCode) symbol() uint8 { return uint8(c) }
func (c lengthCode) bits() uint    { return uint(c >> 8 & 0x1f) }

// extra returns the extra bits of a length with the symbol.
func (c lengthCode) extra(length uint32) uint64 { return uint64(length - uint32(c>>13)) }

// Codes of lengths below shortLengths. Greater lengths have a symbol for each power of two.
var (
	litLenCodesOf   = lengthCodes(16, []int{1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9})
	matchLenCodesOf = lengthCodes(32, []int{1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9})
)

const shortLengths = 1024

// lengthCodes returns codes of which the first plain have a symbol each, and the others extra bits.
func lengthCodes(plain int, extraBits []int) (codes [shortLengths]lengthCode) {
	for l := range plain {
		codes[l] = newLengthCode(l, 0, uint32(l))
	}
	base := plain
	for i, n := range extraBits {
		for l := base; l < base+1<<n; l++ {
			codes[l] = newLengthCode(plain+i, n, uint32(base))
		}
		base += 1 << n
	}
	return codes
}

// litLenCode returns the code of a number of literals.
func litLenCode(n uint32) lengthCode {
	if n < shortLengths {
		return litLenCodesOf[n]
	}
	k := bits.Len32(n) - 1
	return newLengthCode(k+19, k, 1<<k)
}

// matchLenCode returns the code of a match length less 3.
func matchLenCode(n uint32) lengthCode {
	if n < shortLengths {
		return matchLenCodesOf[n]
	}
	k := bits.Len32(n) - 1
	return newLengthCode(k+36, k, 1<<k)
}
