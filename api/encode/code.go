package encode

import "encoding/binary"

// codeTable is the code of a DEFLATE block. Every symbol has a code, so that it can write whatever
// follows.
type codeTable struct {
	litLenLengths [litLenCodes]uint8
	distLengths   [distCodes]uint8
	litLen        [litLenCodes]code
	dist          [32]code           // distCodes of them
	length        [maxMatch + 1]code // of each match length, with its extra bits
	pair          [256]uint64        // of each pair: its bits above a byte with their number
}

// Numbers are encoded two characters at a time. A pair is two values of 4 bits, the lower one
// first: a character less firstDigit, or noDigit.
const (
	firstDigit = '+'
	noDigit    = 15

	// maxNumber is the longest number that is encoded this way.
	maxNumber = 16
)

// ones has a 1 in each byte.
const ones = 0x0101010101010101

// pairsOf returns the pairs of the first n bytes of a word, one in every other byte. ok is false if
// a byte is not a character of numbers.
func pairsOf(word uint64, n int) (pairs uint64, ok bool) {
	// Shifts by 64 and more give 0.
	keep := uint64(1)<<(uint(max(n, 0))*8) - 1
	// A byte below firstDigit, such as a blank, borrows from the bytes above it, which may then
	// seem right. It is found itself, so that the word is refused.
	d := (word - firstDigit*ones) & keep
	ok = (d|(d+ones&keep))&(0xf0*ones) == 0
	d |= noDigit * ones &^ keep
	return (d | d>>4) & 0x00ff00ff00ff00ff, ok
}

// number returns the bits of the first n bytes of a text, and their number or tooMany. All texts of
// the column are at most longest bytes long.
func (t *codeTable) number(text []byte, n, longest int) (all uint64, size uint32) {
	if longest > maxNumber {
		return 0, tooMany
	}
	pairs, ok := pairsOf(binary.LittleEndian.Uint64(text[:8:8]), n)
	all, size = t.pairs(pairs)
	if longest > 8 {
		more, alsoOK := pairsOf(binary.LittleEndian.Uint64(text[8:16:16]), n-8)
		bits, m := t.pairs(more)
		all |= bits << (size & 63)
		size += m
		ok = ok && alsoOK
	}
	if !ok || size > maxBits {
		return 0, tooMany
	}
	return all, size
}

// pairs returns the bits of four pairs and their number.
func (t *codeTable) pairs(p uint64) (all uint64, size uint32) {
	a, b, c, d := t.pair[p&0xff], t.pair[p>>16&0xff], t.pair[p>>32&0xff], t.pair[p>>48&0xff]
	ab, n := a>>8|b>>8<<(a&63), uint32(a&0xff+b&0xff)
	cd, m := c>>8|d>>8<<(c&63), uint32(c&0xff+d&0xff)
	return ab | cd<<(n&63), n + m
}

// codes assigns codes according to the code lengths.
func (t *codeTable) codes() {
	canonical(t.litLen[:], t.litLenLengths[:])
	canonical(t.dist[:distCodes], t.distLengths[:])
	first := uint32(minMatch)
	for n := minMatch; n <= maxMatch; n++ {
		s := lengthSymbol[n]
		if s != lengthSymbol[n-1] {
			first = uint32(n)
		}
		c := t.litLen[s]
		t.length[n] = c + code(uint32(n)-first)<<(8+c.len()) + code(lengthExtra[n])
	}
	for p := range t.pair {
		var bits, size uint64
		for _, d := range [2]int{p & 15, p >> 4} {
			if d != noDigit {
				c := t.litLen[firstDigit+d]
				bits |= c.bits() << size
				size += uint64(c.len())
			}
		}
		t.pair[p] = bits<<8 | size
	}
}
