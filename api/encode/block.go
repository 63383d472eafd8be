package encode

import (
	"encoding/binary"
	"math/bits"
)

// Bounds of DEFLATE (RFC 1951).
const (
	maxMatch    = 258
	minMatch    = 3
	maxDistance = 32 << 10
	endOfBlock  = 256
	litLenCodes = 286
	distCodes   = 30
	maxCodeLen  = 14 // 15 in the format; four of ours fit in a write

	// maxMatchBits is the most bits of a match.
	maxMatchBits = maxCodeLen + 5 + maxCodeLen + 13
)

// lengthSymbol and lengthExtra hold the symbol of each match length and its number of extra bits.
var lengthSymbol, lengthExtra = func() (symbol [maxMatch + 1]uint16, extra [maxMatch + 1]uint8) {
	length := minMatch
	for s := uint16(257); s < 285; s++ {
		n := uint8(0)
		if s >= 265 {
			n = uint8((s - 261) / 4)
		}
		for range 1 << n {
			symbol[length], extra[length] = s, n
			length++
		}
	}
	symbol[maxMatch], extra[maxMatch] = 285, 0
	return symbol, extra
}()

// distSymbol returns the symbol of a distance, given the distance less 1.
func distSymbol(d uint32) uint32 {
	if d < 4 {
		return d
	}
	n := uint32(bits.Len32(d)) - 2
	return 2*n + d>>n
}

// distExtra is the number of extra bits of each distance symbol.
var distExtra = [32]uint8{
	4: 1, 5: 1, 6: 2, 7: 2, 8: 3, 9: 3, 10: 4, 11: 4, 12: 5, 13: 5, 14: 6, 15: 6, 16: 7, 17: 7,
	18: 8, 19: 8, 20: 9, 21: 9, 22: 10, 23: 10, 24: 11, 25: 11, 26: 12, 27: 12, 28: 13, 29: 13,
}

// firstMatch returns the length of the first of the matches that a longer one is split into:
// maxMatch, or less if the rest would be too short.
func firstMatch(length int) int {
	switch {
	case length <= maxMatch:
		return length
	case length < maxMatch+minMatch:
		return length / 2
	}
	return maxMatch
}

// op is an output of the matcher: a match, then literals.
type op struct {
	bits     uint64 // the literals in the code of the block
	size     uint32 // number of bits, or tooMany
	length   uint32 // of the match; below shortMatch it is written as literals
	distance uint32
	plain    uint32 // number of literals
}

// tooMany is the size of an op whose bits are not set.
const tooMany = 63

// block writes ops as DEFLATE blocks.
type block struct {
	seen *counts    // if not nil, counts the symbols
	code *codeTable // of the block being written; nil while symbols are only counted

	bits bitWriter
}

// run counts and writes ops, whose text starts at position at.
func (b *block) run(ops []op, text []byte, at int) {
	if b.seen != nil {
		b.seen.ops(ops, text, at)
	}
	if b.code != nil {
		b.write(ops, text, at)
	}
}

// write writes ops. A mispredicted branch takes as long as forty instructions, so there is no
// branch on the length of a match: one above maxMatch is written in two parts, and for others the
// first part has no bits.
func (b *block) write(ops []op, text []byte, at int) {
	n := uint(len(text) - at)
	b.bits.reserve(n*(maxCodeLen+1) + (n/maxMatch+2*uint(len(ops)))*maxMatchBits)
	t := b.code
	// The writer's state is kept in local variables, and so in registers.
	w := b.bits
	out, to, acc, nbits := w.out[:cap(w.out)], len(w.out), w.acc, w.nbits
	for i := range ops {
		x := &ops[i]
		length, distance := uint(x.length), x.distance-1
		at += int(length)
		if length < shortMatch || length > 2*maxMatch || x.size == tooMany {
			w.out, w.acc, w.nbits = out[:to], acc, nbits
			t.write(&w, x, text, at)
			to, acc, nbits = len(w.out), w.acc, w.nbits
			at += int(x.plain)
			continue
		}
		at += int(x.plain)
		symbol := distSymbol(distance) & 31
		c, extra := t.dist[symbol], uint(distExtra[symbol])
		dist, size := c.bits()|uint64(distance&(1<<(extra&31)-1))<<(c.len()&63), c.len()+extra
		first := min(length-minMatch, maxMatch) & uint(int(maxMatch-length)>>63)
		mask := uint(int(-first) >> 63)
		c = t.length[first]
		bits, n := (c.bits()|dist<<(c.len()&63))&uint64(mask), (c.len()+size)&mask
		c = t.length[length-first]
		rest, m := c.bits()|dist<<(c.len()&63), c.len()+size
		if n+m+uint(x.size) > maxBits {
			acc |= bits << (nbits & 63)
			nbits += n
			binary.LittleEndian.PutUint64(out[to:], acc)
			to += int(nbits >> 3)
			acc >>= nbits &^ 7 & 63
			nbits &= 7
			acc |= rest << (nbits & 63)
			nbits += m
			binary.LittleEndian.PutUint64(out[to:], acc)
			to += int(nbits >> 3)
			acc >>= nbits &^ 7 & 63
			nbits &= 7
			bits, n, rest, m = 0, 0, 0, 0
		}
		bits |= rest<<(n&63) | x.bits<<((n+m)&63)
		acc |= bits << (nbits & 63)
		nbits += n + m + uint(x.size)
		binary.LittleEndian.PutUint64(out[to:], acc)
		to += int(nbits >> 3)
		acc >>= nbits &^ 7 & 63
		nbits &= 7
	}
	b.bits = bitWriter{out[:to], acc, nbits}
}

// write writes an op of any size, whose match ends at position at of the text.
func (t *codeTable) write(w *bitWriter, x *op, text []byte, at int) {
	end := at + int(x.plain)
	if x.length >= shortMatch {
		t.writeMatch(w, int(x.length), int(x.distance))
	} else {
		at -= int(x.length)
	}
	t.writeLiterals(w, text[at:end])
}

func (t *codeTable) writeLiterals(w *bitWriter, text []byte) {
	// The writer's state is kept in registers.
	out, to, acc, nbits := w.out[:cap(w.out)], len(w.out), w.acc, w.nbits
	for ; len(text) >= 4; text = text[4:] {
		c, d, e, f := t.litLen[text[0]], t.litLen[text[1]], t.litLen[text[2]], t.litLen[text[3]]
		n, m := c.len()+d.len(), e.len()+f.len()
		acc |= (c.bits() | d.bits()<<(c.len()&63) | (e.bits()|f.bits()<<(e.len()&63))<<(n&63)) << (nbits & 63)
		nbits += n + m
		binary.LittleEndian.PutUint64(out[to:], acc)
		to += int(nbits >> 3)
		acc >>= nbits &^ 7 & 63
		nbits &= 7
	}
	*w = bitWriter{out[:to], acc, nbits}
	for _, l := range text {
		w.write(t.litLen[l].bits(), t.litLen[l].len())
	}
}

func (t *codeTable) writeMatch(w *bitWriter, length, distance int) {
	d := uint32(distance - 1)
	symbol := distSymbol(d) & 31
	extra := uint(distExtra[symbol])
	c := t.dist[symbol]
	dist, size := c.bits()|uint64(d&(1<<(extra&31)-1))<<(c.len()&63), c.len()+extra
	for length > 0 {
		n := firstMatch(length)
		length -= n
		l := t.length[n]
		w.write(l.bits()|dist<<(l.len()&63), l.len()+size)
	}
}
