package encode

import (
	"encoding/binary"
	"math/bits"
)

// zstdTables are the codes of a group of zstd blocks: a Huffman code for literals, and a
// finite-state code for each of the three parts of a sequence.
type zstdTables struct {
	literals  [256]code
	sequences *sequenceCodes
	own       sequenceCodes

	// The descriptions of the codes, and whether the decoder has them from a block before. Literals
	// without a description are not compressed.
	huffman, fse                  []byte
	knownLiterals, knownSequences bool

	far bool // distances and matches may be longer, as those of a Delta

	// Memory of build.
	lengths huffman
	counts  [4][256]uint32
	weights fseTable
}

// countedSequences is about how many sequences of a large group are counted to build its codes.
const countedSequences = 4 << 10

// sequenceCodes are the codes of the three parts of a sequence.
type sequenceCodes struct{ litLens, distances, matchLens fseTable }

// predefined are the codes that every decoder has (RFC 8878, 3.1.1.3.2.2).
var predefined = func() *sequenceCodes {
	table := func(log uint, norm []int16) (t fseTable) {
		t.log, t.norm = log, norm
		t.spread()
		return t
	}
	return &sequenceCodes{
		litLens: table(6, []int16{
			4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1,
			-1, -1, -1, -1,
		}),
		distances: table(5, []int16{
			1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1,
		}),
		matchLens: table(6, []int16{
			1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
			1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
		}),
	}
}()

// With fewer sequences or literals, building and describing codes costs more than they save.
const (
	minSequences = 128
	minLiterals  = 256
)

// The number of symbols of each part of a sequence, and the logarithm of its code's maximum number
// of states.
const (
	litLenSymbols, litLenLog     = 35, 9 // for up to maxLength literals
	distanceSymbols, distanceLog = 19, 8 // for up to maxZstdDistance
	matchLenSymbols, matchLenLog = 52, 9 // for up to maxLength

	farDistanceSymbols = 25 // for up to maxFarDistance
	farMatchLenSymbols = 53 // for up to maxFarContent

	maxLiteralBits = 11 // of a literal's code
)

// build makes codes for the literals and sequences of a group, or with a minimum only if there are
// enough of them; the predefined codes serve few sequences.
func (t *zstdTables) build(literals []byte, sequences []zstdSequence, minimum bool) {
	t.forget()
	if t.huffman = t.huffman[:0]; len(literals) >= minLiterals || !minimum {
		t.buildLiterals(histogram(&t.counts, literals))
	}
	if minimum && len(sequences) < minSequences {
		t.sequences = predefined
		return
	}
	var litLens, distances, matchLens [64]uint32
	every := 1 + len(sequences)/countedSequences
	if every > 1 { // symbols that are not counted need codes too
		for s := range matchLens {
			litLens[s], distances[s], matchLens[s] = 1, 1, 1
		}
	}
	for i := 0; i < len(sequences); i += every {
		s := sequences[i]
		litLens[litLenCode(s.literals()).symbol()&63]++
		matchLens[matchLenCode(s.matchLen()).symbol()&63]++
		distances[distanceSymbol(s)]++
	}
	s := &t.own
	s.litLens.build(litLens[:litLenSymbols], litLenLog)
	distanceCount, matchLenCount := distanceSymbols, matchLenSymbols
	if t.far {
		distanceCount, matchLenCount = farDistanceSymbols, farMatchLenSymbols
	}
	s.distances.build(distances[:distanceCount], distanceLog)
	s.matchLens.build(matchLens[:matchLenCount], matchLenLog)
	t.fse = s.matchLens.appendTo(s.distances.appendTo(s.litLens.appendTo(t.fse[:0])))
	t.sequences = s
}

// forget makes the next block describe its codes.
func (t *zstdTables) forget() { t.knownLiterals, t.knownSequences = false, false }

// histogram counts bytes, in four tables: digits repeat, and incrementing the same count twice in a
// row waits for the first store.
func histogram(c *[4][256]uint32, text []byte) *[256]uint32 {
	clear(c[:])
	for ; len(text) >= 4; text = text[4:] {
		c[0][text[0]]++
		c[1][text[1]]++
		c[2][text[2]]++
		c[3][text[3]]++
	}
	for _, b := range text {
		c[0][b]++
	}
	for s := range c[0] {
		c[0][s] += c[1][s] + c[2][s] + c[3][s]
	}
	return &c[0]
}

// buildLiterals makes the code of literals. t.huffman stays empty if there are not two different
// bytes, or if the code cannot be described.
func (t *zstdTables) buildLiterals(counts *[256]uint32) {
	last := 0
	for s, n := range counts {
		if n > 0 {
			last = s
		}
	}
	if used(counts[:]) < 2 {
		return
	}
	var lengths [256]uint8
	t.lengths.lengths(lengths[:], counts[:], maxLiteralBits)
	var of, next [maxLiteralBits + 2]uint32
	for _, l := range lengths {
		of[l]++
	}
	// Codes ascend from the longest to the shortest, and by symbol among those of a length.
	longest := 0
	for l := maxLiteralBits; l > 0; l-- {
		next[l] = (next[l+1] + of[l+1]) >> 1
		if of[l] > 0 && longest == 0 {
			longest = l
		}
	}
	var weights [256]uint8 // that of the last symbol follows from the others
	for s, l := range lengths {
		if l > 0 {
			t.literals[s] = code(next[l])<<8 | code(l)
			next[l]++
			weights[s] = uint8(longest) + 1 - l
		}
	}
	t.huffman = appendWeights(t.huffman, &t.weights, weights[:last])
}

// appendWeights appends the description of a Huffman code (RFC 8878, 4.2.1): the weights of all
// symbols but the last, in a finite-state code with two states in turn. It appends nothing if the
// weights are all the same or take 128 bytes or more.
func appendWeights(dst []byte, f *fseTable, weights []uint8) []byte {
	var counts [64]uint32
	for _, w := range weights {
		counts[w]++
	}
	if used(counts[:]) < 2 {
		return dst
	}
	f.build(counts[:maxLiteralBits+1], 6)
	start := len(dst)
	w := bitWriter{out: f.appendTo(append(dst, 0))}
	w.reserve(uint(len(weights)*8 + 64))
	var states [2]uint32
	for i := len(weights) - 1; i >= 0; i-- {
		state := &states[i&1]
		if i >= len(weights)-2 {
			*state = f.first(weights[i])
			continue
		}
		out, n, next := f.step(*state, weights[i])
		w.write(out, n)
		*state = next
	}
	w.write(f.mark(states[1]), f.log)
	w.write(f.mark(states[0]), f.log)
	w.write(1, 1)
	w.align()
	size := len(w.out) - start - 1
	if size >= 128 {
		return w.out[:start]
	}
	w.out[start] = byte(size)
	return w.out
}

const (
	// leastHuffman is the least number of literals worth compressing. From fourStreams on they take
	// four streams, as the format demands.
	leastHuffman = 16
	fourStreams  = 1 << 10
)

// appendLiterals appends the literals section of a block, Huffman-coded if that makes it shorter,
// with the description of the code unless the decoder has it. The caller reserves the room.
func (t *zstdTables) appendLiterals(w *bitWriter, literals []byte) {
	n := len(literals)
	start := len(w.out)
	if n >= leastHuffman && len(t.huffman) > 0 {
		// Both sizes take 10, 14 or 18 bits each.
		format, width := uint64(0), uint(10)
		switch {
		case n >= 1<<14:
			format, width = 3, 18
		case n >= fourStreams:
			format, width = 2, 14
		}
		kind, head := uint64(3), int(4+2*width+7)/8
		w.out = w.out[:start+head]
		if !t.knownLiterals {
			kind = 2
			w.out = append(w.out, t.huffman...)
		}
		if n < fourStreams {
			t.writeLiterals(w, literals)
		} else {
			jump := len(w.out)
			w.out = w.out[:jump+6]
			part := (n + 3) / 4
			for i := range 3 {
				from := len(w.out)
				t.writeLiterals(w, literals[i*part:(i+1)*part])
				binary.LittleEndian.PutUint16(w.out[jump+2*i:], uint16(len(w.out)-from))
			}
			t.writeLiterals(w, literals[3*part:])
		}
		if size := len(w.out) - start - head; size < n {
			h := kind | format<<2 | uint64(n)<<4 | uint64(size)<<(4+width)
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], h)
			copy(w.out[start:start+head], b[:])
			t.knownLiterals = true
			return
		}
		w.out = w.out[:start]
	}
	switch {
	case n < 1<<5:
		w.out = append(w.out, byte(n<<3))
	case n < 1<<12:
		w.out = append(w.out, byte(n<<4|1<<2), byte(n>>4))
	default:
		w.out = append(w.out, byte(n<<4|3<<2), byte(n>>4), byte(n>>12))
	}
	w.out = append(w.out, literals...)
}

// writeLiterals writes one stream of literals, last one first: decoders read a stream from its end.
func (t *zstdTables) writeLiterals(w *bitWriter, literals []byte) {
	out, to, acc, nbits := w.out[:cap(w.out)], len(w.out), uint64(0), uint(0)
	i := len(literals)
	for ; i >= 5; i -= 5 { // at most 55 bits and 7 of before
		q := (*[5]byte)(literals[i-5 : i])
		a, b, c, d, e := t.literals[q[4]], t.literals[q[3]], t.literals[q[2]], t.literals[q[1]], t.literals[q[0]]
		ab, n := a.bits()|b.bits()<<(a.len()&63), a.len()+b.len()
		cd, m := c.bits()|d.bits()<<(c.len()&63), c.len()+d.len()
		acc |= (ab | cd<<(n&63) | e.bits()<<((n+m)&63)) << (nbits & 63)
		nbits += n + m + e.len()
		binary.LittleEndian.PutUint64(out[to:], acc)
		to += int(nbits >> 3)
		acc >>= nbits &^ 7 & 63
		nbits &= 7
	}
	*w = bitWriter{out[:to], acc, nbits}
	for ; i > 0; i-- {
		c := t.literals[literals[i-1]]
		w.write(c.bits(), c.len())
	}
	w.write(1, 1)
	w.align()
}

// writeSequences writes how sequences are coded, then at least one sequence, last one first. With a
// minimum, it does not describe codes for few sequences.
func (t *zstdTables) writeSequences(w *bitWriter, sequences []zstdSequence, minimum bool) {
	c := t.sequences
	if minimum && len(sequences) < minSequences && !t.knownSequences {
		c = predefined
	}
	switch {
	case c == predefined:
		w.out = append(w.out, 0)
	case t.knownSequences:
		w.out = append(w.out, 3<<6|3<<4|3<<2) // the codes of the block before
	default:
		w.out = append(append(w.out, 2<<6|2<<4|2<<2), t.fse...)
		t.knownSequences = true
	}
	last := sequences[len(sequences)-1]
	l, m, k := litLenCode(last.literals()), matchLenCode(last.matchLen()), distanceSymbol(last)
	litLen, distance, matchLen := c.litLens.first(l.symbol()), c.distances.first(k), c.matchLens.first(m.symbol())
	w.acc, w.nbits = 0, 0
	w.write(l.extra(last.literals())|m.extra(last.matchLen())<<l.bits(), l.bits()+m.bits())
	w.write(uint64(last.distanceValue())-1<<k, uint(k))

	// The writer's state is kept in registers.
	out, to, acc, nbits := w.out[:cap(w.out)], len(w.out), w.acc, w.nbits
	for i := len(sequences) - 2; i >= 0; i-- {
		s := sequences[i]
		l, m, k := litLenCode(s.literals()), matchLenCode(s.matchLen()), distanceSymbol(s)
		var a, b, e uint64
		var na, nb, ne uint
		a, na, distance = c.distances.step(distance, k)
		b, nb, matchLen = c.matchLens.step(matchLen, m.symbol())
		e, ne, litLen = c.litLens.step(litLen, l.symbol())
		acc |= (a | b<<(na&63) | e<<((na+nb)&63)) << (nbits & 63)
		nbits += na + nb + ne // 7 + 26 at most
		n, nm := l.bits(), m.bits()
		extra := l.extra(s.literals()) | (m.extra(s.matchLen())|(uint64(s.distanceValue())-1<<k)<<(nm&63))<<(n&63)
		n += nm + uint(k) // 55 at most
		if nbits+n > 63 {
			binary.LittleEndian.PutUint64(out[to:], acc)
			to += int(nbits >> 3)
			acc >>= nbits &^ 7 & 63
			nbits &= 7
		}
		acc |= extra << (nbits & 63)
		nbits += n
		binary.LittleEndian.PutUint64(out[to:], acc)
		to += int(nbits >> 3)
		acc >>= nbits &^ 7 & 63
		nbits &= 7
	}
	*w = bitWriter{out[:to], acc, nbits}
	w.write(c.matchLens.mark(matchLen), c.matchLens.log)
	w.write(c.distances.mark(distance), c.distances.log)
	w.write(c.litLens.mark(litLen), c.litLens.log)
	w.write(1, 1)
	w.align()
}

// distanceSymbol returns the symbol of a sequence's distance, which is also its number of extra
// bits.
func distanceSymbol(s zstdSequence) uint8 { return uint8(bits.Len32(s.distanceValue())-1) & 31 }
