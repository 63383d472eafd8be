package snapshot

import (
	"encoding/binary"
	"math/bits"
)

// aboveTest finds out whether one of some packed numbers is at least c, in blocks of 64: those take
// whole words, and all numbers of a word are compared at once.
//
// A number of w bits is at least c, which is 2^(w-1) or more, if its highest bit is one and the sum
// of its other bits and 2^w-c has that bit too. No sum has more bits than the number, so the blocks
// of a word do not disturb each other. Words are added as one long integer, since a number may
// begin in one and end in the next. A smaller c is turned into a large one by inverting all bits.
type aboveTest struct {
	words [32]aboveWord
	used  int    // words that any reads at a time
	flip  uint64 // all ones: numbers are inverted first
}

// aboveWord has what belongs to one word of a block.
type aboveWord struct {
	low  uint64 // all bits but the highest of each number
	add  uint64 // what is added to those
	want uint64 // the highest bits that numbers below c have in the result
}

// aboveRows is how many numbers must be tested for an aboveTest to be worth making.
const aboveRows = 1024

// set makes a test of packed numbers of 1 to 32 bits, and returns how many any reads. c is above 0.
func (t *aboveTest) set(width int, c uint64) (count int) {
	add, invert := uint64(1)<<width-c, uint64(0)
	if c < add {
		t.flip, add, invert = ^uint64(0), c, ^uint64(0)
	}
	for i := range 64 {
		at, shift, last := i*width/64, i*width%64, (i+1)*width-1
		t.words[last/64].low |= 1 << (last % 64) // inverted below
		t.words[at].add |= add << shift
		if shift+width > 64 {
			t.words[at+1].add |= add >> (64 - shift)
		}
	}
	for i := range t.words[:width] {
		w := &t.words[i]
		w.low, w.want = ^w.low, w.low&invert
	}
	// More than 64 numbers of few bits are read at a time.
	t.used = len(t.words) / width * width
	for i := width; i < t.used; i++ {
		t.words[i] = t.words[i-width]
	}
	return t.used / width * 64
}

// any reports whether one of the numbers at the start of data is at least c.
func (t *aboveTest) any(data []byte) bool {
	var carry, found uint64
	flip, words := t.flip, t.words[:t.used]
	for len(words) >= 4 && len(data) >= 32 { // additions in a row keep the carry in the processor's flag
		a, b, c, d := &words[0], &words[1], &words[2], &words[3]
		i := binary.LittleEndian.Uint64(data) ^ flip
		j := binary.LittleEndian.Uint64(data[8:]) ^ flip
		k := binary.LittleEndian.Uint64(data[16:]) ^ flip
		l := binary.LittleEndian.Uint64(data[24:]) ^ flip
		lowI, lowJ, lowK, lowL := i&a.low, j&b.low, k&c.low, l&d.low
		var sumI, sumJ, sumK, sumL uint64
		sumI, carry = bits.Add64(lowI, a.add, carry)
		sumJ, carry = bits.Add64(lowJ, b.add, carry)
		sumK, carry = bits.Add64(lowK, c.add, carry)
		sumL, carry = bits.Add64(lowL, d.add, carry)
		found |= (i^lowI)&sumI ^ a.want
		found |= (j^lowJ)&sumJ ^ b.want
		found |= (k^lowK)&sumK ^ c.want
		found |= (l^lowL)&sumL ^ d.want
		words, data = words[4:], data[32:]
	}
	for i := range words {
		w := &words[i]
		x := binary.LittleEndian.Uint64(data[8*i:]) ^ flip
		low := x & w.low
		var sum uint64
		sum, carry = bits.Add64(low, w.add, carry)
		found |= (x^low)&sum ^ w.want
	}
	return found != 0
}
