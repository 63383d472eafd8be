package snapshot

import (
	"encoding/binary"
	"math/bits"
)

// boundTest finds packed numbers above a bound. Like rangeTest, it compares all numbers of a word
// at once, and adds words as one long integer. It takes a block of up to 32 words at a time, which
// has whole numbers only.
type boundTest struct {
	words   [32]boundWord
	used    int // words of a block
	numbers int // in a block
}

type boundWord struct {
	low uint64 // all bits but the highest of each number
	add uint64 // for each number 2^width - 1 - bound
}

// set makes a test for numbers of 1 to 32 bits. The bound must be at least 2^(width-1) - 1, so that
// no number whose highest bit is 0 is above it.
func (t *boundTest) set(width int, bound uint64) {
	repeat := len(t.words) / width
	t.used, t.numbers = repeat*width, repeat*64
	add := uint64(1)<<width - 1 - bound
	for i := range t.numbers {
		from, top := i*width, (i+1)*width-1
		t.words[top/64].low |= 1 << (top % 64) // inverted below
		t.words[from/64].add |= add << (from % 64)
		if from/64 < top/64 {
			t.words[top/64].add |= add >> (64 - from%64)
		}
	}
	for i := range t.words {
		t.words[i].low = ^t.words[i].low
	}
}

// any reports whether a number of the block at the start of data is above the bound.
func (t *boundTest) any(data []byte) bool {
	var carry, above uint64
	words := t.words[:t.used]
	for len(words) >= 4 && len(data) >= 32 { // additions in a row keep the carry in the processor's flag
		a, b, c, d := &words[0], &words[1], &words[2], &words[3]
		i, j := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
		k, l := binary.LittleEndian.Uint64(data[16:]), binary.LittleEndian.Uint64(data[24:])
		lowI, lowJ, lowK, lowL := i&a.low, j&b.low, k&c.low, l&d.low
		var sumI, sumJ, sumK, sumL uint64
		sumI, carry = bits.Add64(lowI, a.add, carry)
		sumJ, carry = bits.Add64(lowJ, b.add, carry)
		sumK, carry = bits.Add64(lowK, c.add, carry)
		sumL, carry = bits.Add64(lowL, d.add, carry)
		above |= (i^lowI)&sumI | (j^lowJ)&sumJ | (k^lowK)&sumK | (l^lowL)&sumL
		words, data = words[4:], data[32:]
	}
	for i := range words {
		w := &words[i]
		x := binary.LittleEndian.Uint64(data[8*i:])
		low := x & w.low
		var sum uint64
		sum, carry = bits.Add64(low, w.add, carry)
		above |= (x ^ low) & sum
	}
	return above != 0
}
