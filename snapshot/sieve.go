package snapshot

import (
	"encoding/binary"
	"math/bits"
)

// sieve reports whether any of 64 packed numbers is in a span. That takes a fraction of the time of
// testing each. It takes the numbers, or their complements, as one long integer and adds a
// constant to each of them at once, so that those in the span, and no others, carry into the next
// number. One that carries may let the next one carry too, but without any in the span there is no
// carry.
type sieve struct {
	words [32]sieveWord
	width int
}

// sieveWord has what belongs to one word of the long integer.
type sieveWord struct {
	flip uint64 // bits that are inverted first
	add  uint64 // the constants
	low  uint64 // the lowest bit of each number, into which the one before carries
}

// sieveRows is how many numbers must be tested for a sieve to be worth making.
const sieveRows = 4096

// set makes a sieve of packed numbers of 1 to 32 bits, of which lo to lo+more are in the span.
// Where both ends exclude numbers it only heeds the end that excludes more, so any says yes too
// often. It returns false if no number is excluded.
func (s *sieve) set(width, lo, more uint64) bool {
	s.width = int(width)
	most := uint64(1)<<width - 1
	hi := lo + min(more, most-lo)
	switch {
	case more == 0: // the complement of the difference is the largest number, so 1 lets it carry
		s.fill(^lo&most, 1)
	case lo == 0 && hi == most:
		return false
	case lo >= most-hi:
		s.fill(0, most-lo+1)
	default:
		s.fill(most, hi+1)
	}
	return true
}

// fill sets the words to constants of a number, repeated.
func (s *sieve) fill(flip, add uint64) {
	for i := range 64 {
		at, shift := i*s.width/64, i*s.width%64
		w := &s.words[at]
		w.flip |= flip << shift
		w.add |= add << shift
		w.low |= 1 << shift
		if shift+s.width > 64 {
			s.words[at+1].flip |= flip >> (64 - shift)
			s.words[at+1].add |= add >> (64 - shift)
		}
	}
}

// any reports whether one of the 64 numbers at the start of data may be in the span.
func (s *sieve) any(data []byte) bool {
	var carry, carried uint64
	words := s.words[:s.width]
	for len(words) >= 4 && len(data) >= 32 { // additions in a row keep the carry in the processor's flag
		a, b, c, d := &words[0], &words[1], &words[2], &words[3]
		i := binary.LittleEndian.Uint64(data) ^ a.flip
		j := binary.LittleEndian.Uint64(data[8:]) ^ b.flip
		k := binary.LittleEndian.Uint64(data[16:]) ^ c.flip
		l := binary.LittleEndian.Uint64(data[24:]) ^ d.flip
		var sumI, sumJ, sumK, sumL uint64
		sumI, carry = bits.Add64(i, a.add, carry)
		sumJ, carry = bits.Add64(j, b.add, carry)
		sumK, carry = bits.Add64(k, c.add, carry)
		sumL, carry = bits.Add64(l, d.add, carry)
		carried |= (i^a.add^sumI)&a.low | (j^b.add^sumJ)&b.low | (k^c.add^sumK)&c.low | (l^d.add^sumL)&d.low
		words, data = words[4:], data[32:]
	}
	for i := range words {
		w := &words[i]
		number := binary.LittleEndian.Uint64(data[8*i:]) ^ w.flip
		var sum uint64
		sum, carry = bits.Add64(number, w.add, carry)
		carried |= (number ^ w.add ^ sum) & w.low
	}
	return carried|carry != 0
}

// sieved does the work of Within for numbers up to where a sieve excludes too few blocks to be
// worth its time, and returns how many these are, a multiple of 64. from is one too.
func (p Packed) sieved(from uint32, n int, lo, more uint64, out []uint64) (done int) {
	var s sieve
	if !s.set(p.width, lo, more) {
		return 0
	}
	for hits := 0; done+64 <= n && hits <= 8+done/128; done += 64 {
		at := from + uint32(done)
		if s.any(p.data[uint64(at)/8*p.width:]) {
			hits++
			p.Within(at, 64, lo, more, out[done>>6:])
		}
	}
	return done
}
