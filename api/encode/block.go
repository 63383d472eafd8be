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
	maxCodeLen  = 15
)

// sequence is some literals and then a match: length bytes from distance bytes back. A length above maxMatch is written as several
// matches; a length of 0 is none. It is one number, so that it is stored at one go:
//
//	literals 16 · length 16 · distance less 1, 24 · symbol of the distance in DEFLATE 8
type sequence uint64

func newSequence(literals, length int, distance, symbol uint32) sequence {
	return sequence(uint64(literals) | uint64(length)<<16 | uint64(distance)<<32 | uint64(symbol)<<56)
}

func (s sequence) literals() int    { return int(s & 0xffff) }
func (s sequence) length() int      { return int(s >> 16 & 0xffff) }
func (s sequence) distance() uint32 { return uint32(s >> 32 & 0xffffff) }
func (s sequence) symbol() uint32   { return uint32(s >> 56) }

// maxLiterals is the most that a sequence has in front of its match.
const maxLiterals = 1<<16 - 1

// block gathers sequences and writes them as one DEFLATE block with a code of its own.
type block struct {
	literals  []byte
	sequences []sequence
	pending   int // literals since the last sequence

	litLen  [512]uint32 // litLenCodes of them, the others for cheap indexing
	dist    [32]uint32
	huffman huffman
	table   codeTable
	header  blockHeader
}

// codeTable is the code of a block.
type codeTable struct {
	litLenLengths [litLenCodes]uint8
	distLengths   [distCodes]uint8
	litLen        [litLenCodes]code
	dist          [32]code           // distCodes of them
	length        [maxMatch + 1]code // of each match length, with its extra bits
}

// lengthSymbol and lengthExtra are the symbol of each match length and its number of extra bits.
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

// distSymbol is the symbol of a distance less 1.
func distSymbol(d uint32) uint32 {
	if d < 4 {
		return d
	}
	n := uint32(bits.Len32(d)) - 2
	return 2*n + d>>n
}

// distExtra is how many extra bits each symbol of a distance has.
var distExtra = [32]uint8{
	4: 1, 5: 1, 6: 2, 7: 2, 8: 3, 9: 3, 10: 4, 11: 4, 12: 5, 13: 5, 14: 6, 15: 6, 16: 7, 17: 7,
	18: 8, 19: 8, 20: 9, 21: 9, 22: 10, 23: 10, 24: 11, 25: 11, 26: 12, 27: 12, 28: 13, 29: 13,
}

// literal adds plain bytes.
func (b *block) literal(text []byte) {
	b.literals = append(b.literals, text...)
	b.pending += len(text)
}

// settle makes sequences of the literals that one sequence cannot have.
func (b *block) settle() {
	for b.pending > maxLiterals {
		b.sequences = append(b.sequences, newSequence(maxLiterals, 0, 0, 0))
		b.pending -= maxLiterals
	}
}

// match adds a match of any length from minMatch up.
func (b *block) match(length, distance int) {
	if b.pending > maxLiterals {
		b.settle()
	}
	d := uint32(distance - 1)
	symbol := distSymbol(d)
	for length > 0 {
		n := min(length, maxLength)
		if rest := length - n; rest > 0 && rest < minMatch {
			n -= minMatch
		}
		length -= n
		b.sequences = append(b.sequences, newSequence(b.pending, n, d, symbol))
		b.pending = 0
		for n > 0 {
			part := firstMatch(n)
			n -= part
			b.litLen[lengthSymbol[part]&511]++
			b.dist[symbol&31]++
		}
	}
}

// maxLength is the longest match of a sequence.
const maxLength = 1<<16 - 1

// firstMatch is the first of the matches that a length is written as: maxMatch while it is above, but so that none is too short.
func firstMatch(length int) int {
	switch {
	case length <= maxMatch:
		return length
	case length < maxMatch+minMatch:
		return length / 2
	}
	return maxMatch
}

// empty tells whether nothing was added since the last block.
func (b *block) empty() bool { return len(b.sequences) == 0 && len(b.literals) == 0 }

// flush writes what was added as one block and forgets it.
func (b *block) flush(w *bitWriter, final bool) {
	b.close()
	b.countLiterals()
	b.litLen[endOfBlock] = 1
	b.twoOf(b.litLen[:litLenCodes])
	b.twoOf(b.dist[:distCodes])
	b.build()
	b.header.build(&b.huffman, &b.table)
	w.reserve(b.size())
	last := uint64(0)
	if final {
		last = 1
	}
	w.write(last|2<<1, 3)
	b.header.write(w)
	b.writeSequences(w)
	eob := b.table.litLen[endOfBlock]
	w.write(eob.bits(), eob.len())
	b.forget()
}

// close makes a sequence of the literals that no match follows.
func (b *block) close() {
	b.settle()
	if b.pending > 0 {
		b.sequences = append(b.sequences, newSequence(b.pending, 0, 0, 0))
		b.pending = 0
	}
}

// forget makes the block empty.
func (b *block) forget() {
	b.literals, b.sequences = b.literals[:0], b.sequences[:0]
	clear(b.litLen[:])
	clear(b.dist[:])
}

// countLiterals counts in four tables, since counting the same one twice in a row waits for memory.
func (b *block) countLiterals() {
	var counts [4][256]uint32
	text := b.literals
	for ; len(text) >= 4; text = text[4:] {
		counts[0][text[0]]++
		counts[1][text[1]]++
		counts[2][text[2]]++
		counts[3][text[3]]++
	}
	for _, c := range text {
		counts[0][c]++
	}
	for c := range counts[0] {
		b.litLen[c] = counts[0][c] + counts[1][c] + counts[2][c] + counts[3][c]
	}
}

// twoOf makes sure that two symbols have a code: some decoders refuse a code of one.
func (b *block) twoOf(counts []uint32) {
	used := 0
	for _, n := range counts {
		if n > 0 {
			used++
		}
	}
	for s := 0; used < 2; s++ {
		if counts[s] == 0 {
			counts[s] = 1
			used++
		}
	}
}

func (b *block) build() {
	t := &b.table
	b.huffman.lengths(t.litLenLengths[:], b.litLen[:litLenCodes], maxCodeLen)
	b.huffman.lengths(t.distLengths[:], b.dist[:distCodes], maxCodeLen)
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
}

// size is how many bits the block takes.
func (b *block) size() uint {
	n := uint(3) + b.header.size
	for s, count := range b.litLen[:litLenCodes] {
		n += uint(count) * uint(b.table.litLenLengths[s])
		if s >= 265 && s < 285 {
			n += uint(count) * uint((s-261)/4)
		}
	}
	for s, count := range b.dist[:distCodes] {
		n += uint(count) * uint(b.table.distLengths[s])
		if s >= 4 {
			n += uint(count) * uint(s/2-1)
		}
	}
	return n
}

func (b *block) writeSequences(w *bitWriter) {
	t := &b.table
	// The writer's state is kept in registers: this is the inner loop.
	out, at, acc, held := w.out[:cap(w.out)], len(w.out), w.acc, w.held
	literals := b.literals
	for _, s := range b.sequences {
		run := literals[:s.literals()]
		literals = literals[len(run):]
		for len(run) >= 3 {
			c, d, e := t.litLen[run[0]], t.litLen[run[1]], t.litLen[run[2]]
			acc |= c.bits() << (held & 63)
			held += c.len()
			acc |= d.bits() << (held & 63)
			held += d.len()
			acc |= e.bits() << (held & 63)
			held += e.len()
			binary.LittleEndian.PutUint64(out[at:], acc)
			at += int(held >> 3)
			acc >>= held &^ 7 & 63
			held &= 7
			run = run[3:]
		}
		for _, l := range run {
			c := t.litLen[l]
			acc |= c.bits() << (held & 63)
			held += c.len()
		}
		binary.LittleEndian.PutUint64(out[at:], acc)
		at += int(held >> 3)
		acc >>= held &^ 7 & 63
		held &= 7
		length := s.length()
		c, extra := t.dist[s.symbol()&31], uint(distExtra[s.symbol()&31])
		dist := c.bits() | uint64(s.distance()&(1<<(extra&15)-1))<<c.len()
		distLen := c.len() + extra
		for length > 0 {
			n := firstMatch(length)
			length -= n
			c := t.length[n]
			acc |= c.bits() << (held & 63)
			held += c.len()
			acc |= dist << (held & 63)
			held += distLen
			binary.LittleEndian.PutUint64(out[at:], acc)
			at += int(held >> 3)
			acc >>= held &^ 7 & 63
			held &= 7
		}
	}
	w.out, w.acc, w.held = out[:at], acc, held
}
