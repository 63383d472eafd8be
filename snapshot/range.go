package snapshot

import (
	"encoding/binary"
	"math/bits"
)

// rangeTest tests packed numbers for a range, in blocks of 64: those take whole words, and all
// numbers of a word are compared at once.
//
// A number of w bits is at least c, which is 2^(w-1) or more, if its highest bit is one and the sum
// of its other bits and 2^w-c has that bit too. No sum has more bits than the number, so the blocks
// of a word do not disturb each other. Words are added as one long integer, since a number may
// begin in one and end in the next. A smaller c is turned into a large one by inverting all bits.
type rangeTest struct {
	used  int // words that any reads at a time
	words [32]rangeWord
	width int
	ends  [2]rangeEnd
	two   bool // both ends exclude numbers; else only the first counts
}

// rangeEnd is one end of a range.
type rangeEnd struct {
	flip   uint64 // all ones: numbers are inverted first
	invert uint64 // all ones: those pass that the comparison excludes
}

// rangeWord has what belongs to one word of a block.
type rangeWord struct {
	low   uint64    // all bits but the highest of each number
	add   [2]uint64 // for each end what is added to those
	want  [2]uint64 // for each end the highest bits that numbers outside of it have in the result
	merge uint64    // a product with this has the highest bits side by side at the top
	keep  uint64    // the bits of that product that count
	turn  int       // how far they are turned to the left, to their place among the 64
}

const (
	// rangeRows is how many numbers must be tested for a rangeTest to be worth making.
	rangeRows = 1024

	// minMerged is the least width for which a product moves the highest bits side by side: no
	// word has the highest bits of more numbers than a number has bits.
	minMerged = 8
)

// set makes a test of packed numbers of 1 to 32 bits, of which lo to lo+more pass. It returns false
// if no number is excluded. Only any is right for numbers of less than minMerged bits.
func (t *rangeTest) set(width, lo, more uint64) bool {
	t.width, t.used = int(width), int(width)
	most := uint64(1)<<width - 1
	hi := lo + min(more, most-lo)
	if lo == 0 && hi == most {
		return false
	}
	for i := range 64 {
		bit := (i+1)*t.width - 1
		w := &t.words[bit/64]
		w.low |= 1 << (bit % 64) // inverted below
		w.turn = i + 1
	}
	for i := range t.words[:t.width] {
		w := &t.words[i]
		count, lowest := bits.OnesCount64(w.low), bits.TrailingZeros64(w.low)
		for k := range count {
			w.merge |= 1 << (64 - count - lowest - k*(t.width-1))
		}
		w.keep = ^uint64(0) << (64 - count)
		w.low = ^w.low
	}
	// The first end is the one that excludes more.
	t.two = lo > 0 && hi < most
	switch {
	case !t.two && lo > 0:
		t.setEnd(0, lo, false)
	case !t.two:
		t.setEnd(0, hi+1, true)
	case lo >= most-hi:
		t.setEnd(0, lo, false)
		t.setEnd(1, hi+1, true)
	default:
		t.setEnd(0, hi+1, true)
		t.setEnd(1, lo, false)
	}
	return true
}

// setEnd makes an end pass the numbers from c on, which is above 0, or those below c.
func (t *rangeTest) setEnd(end int, c uint64, below bool) {
	add := uint64(1)<<t.width - c
	e := &t.ends[end]
	if c < add {
		e.flip, add = ^uint64(0), c
		below = !below
	}
	if below {
		e.invert = ^uint64(0)
	}
	for i := range 64 {
		at, shift := i*t.width/64, i*t.width%64
		t.words[at].add[end] |= add << shift
		if shift+t.width > 64 {
			t.words[at+1].add[end] |= add >> (64 - shift)
		}
	}
	for i := range t.words[:t.width] {
		t.words[i].want[end] = ^t.words[i].low & e.invert
	}
}

// repeat makes any take more than 64 numbers of few bits at a time, and returns how many.
func (t *rangeTest) repeat() int {
	n := len(t.words) / t.width
	for i := t.width; i < n*t.width; i++ {
		t.words[i] = t.words[i-t.width]
	}
	t.used = n * t.width
	return n * 64
}

// any reports whether one of the 64 numbers at the start of data may be in the range. It only heeds
// the first end.
func (t *rangeTest) any(data []byte) bool {
	var carry, found uint64
	flip, words := t.ends[0].flip, t.words[:t.used]
	for len(words) >= 4 && len(data) >= 32 { // additions in a row keep the carry in the processor's flag
		a, b, c, d := &words[0], &words[1], &words[2], &words[3]
		i := binary.LittleEndian.Uint64(data) ^ flip
		j := binary.LittleEndian.Uint64(data[8:]) ^ flip
		k := binary.LittleEndian.Uint64(data[16:]) ^ flip
		l := binary.LittleEndian.Uint64(data[24:]) ^ flip
		lowI, lowJ, lowK, lowL := i&a.low, j&b.low, k&c.low, l&d.low
		var sumI, sumJ, sumK, sumL uint64
		sumI, carry = bits.Add64(lowI, a.add[0], carry)
		sumJ, carry = bits.Add64(lowJ, b.add[0], carry)
		sumK, carry = bits.Add64(lowK, c.add[0], carry)
		sumL, carry = bits.Add64(lowL, d.add[0], carry)
		found |= (i^lowI)&sumI ^ a.want[0]
		found |= (j^lowJ)&sumJ ^ b.want[0]
		found |= (k^lowK)&sumK ^ c.want[0]
		found |= (l^lowL)&sumL ^ d.want[0]
		words, data = words[4:], data[32:]
	}
	for i := range words {
		w := &words[i]
		x := binary.LittleEndian.Uint64(data[8*i:]) ^ flip
		low := x & w.low
		var sum uint64
		sum, carry = bits.Add64(low, w.add[0], carry)
		found |= (x^low)&sum ^ w.want[0]
	}
	return found != 0
}

// mask has a bit for each of the 64 numbers at the start of data that is in the range.
func (t *rangeTest) mask(data []byte) uint64 {
	if t.two {
		return t.maskBoth(data)
	}
	var carry, in uint64
	flip, words := t.ends[0].flip, t.words[:t.width]
	for len(words) >= 4 && len(data) >= 32 {
		a, b, c, d := &words[0], &words[1], &words[2], &words[3]
		i := binary.LittleEndian.Uint64(data) ^ flip
		j := binary.LittleEndian.Uint64(data[8:]) ^ flip
		k := binary.LittleEndian.Uint64(data[16:]) ^ flip
		l := binary.LittleEndian.Uint64(data[24:]) ^ flip
		lowI, lowJ, lowK, lowL := i&a.low, j&b.low, k&c.low, l&d.low
		var sumI, sumJ, sumK, sumL uint64
		sumI, carry = bits.Add64(lowI, a.add[0], carry)
		sumJ, carry = bits.Add64(lowJ, b.add[0], carry)
		sumK, carry = bits.Add64(lowK, c.add[0], carry)
		sumL, carry = bits.Add64(lowL, d.add[0], carry)
		in |= a.place((i ^ lowI) & sumI)
		in |= b.place((j ^ lowJ) & sumJ)
		in |= c.place((k ^ lowK) & sumK)
		in |= d.place((l ^ lowL) & sumL)
		words, data = words[4:], data[32:]
	}
	for i := range words {
		w := &words[i]
		x := binary.LittleEndian.Uint64(data[8*i:]) ^ flip
		low := x & w.low
		var sum uint64
		sum, carry = bits.Add64(low, w.add[0], carry)
		in |= w.place((x ^ low) & sum)
	}
	return in ^ t.ends[0].invert
}

// maskBoth is mask for two ends.
func (t *rangeTest) maskBoth(data []byte) (in uint64) {
	var carry0, carry1 uint64
	flip0, flip1 := t.ends[0].flip, t.ends[1].flip
	for i := range t.words[:t.width] {
		w := &t.words[i]
		word := binary.LittleEndian.Uint64(data[8*i:])
		x, y := word^flip0, word^flip1
		lowX, lowY := x&w.low, y&w.low
		var sumX, sumY uint64
		sumX, carry0 = bits.Add64(lowX, w.add[0], carry0)
		sumY, carry1 = bits.Add64(lowY, w.add[1], carry1)
		in |= w.place(((x^lowX)&sumX ^ w.want[0]) & ((y^lowY)&sumY ^ w.want[1]))
	}
	return in
}

// place moves the highest bits of the numbers of a word to their places among those of the block.
func (w *rangeWord) place(highest uint64) uint64 {
	return bits.RotateLeft64(highest*w.merge&w.keep, w.turn)
}

// inRange does the work of Within for whole blocks of 64 numbers, and returns how many numbers
// these are. from is a multiple of 64. It takes the blocks of four places in turn: then the
// processor waits for the memory of all four at once. Blocks are skipped while few have a number in
// the range.
func (p Packed) inRange(from uint32, n int, lo, more uint64, out []uint64) int {
	var t rangeTest
	blocks, tested, hits := n/64, 0, 0
	if !t.set(p.width, lo, more) {
		for k := range blocks {
			out[k] = ^uint64(0)
		}
		return blocks * 64
	}
	quarter := (blocks + 3) / 4
	first := uint64(from) / 64
	for i := range quarter {
		for k := i; k < blocks; k += quarter {
			data := p.data[(first+uint64(k))*8*p.width:]
			if 4*hits <= 32+tested {
				tested++
				if !t.any(data) {
					continue
				}
				hits++
			}
			out[k] |= t.mask(data)
		}
	}
	return blocks * 64
}
