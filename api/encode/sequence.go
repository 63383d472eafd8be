package encode

import (
	"math/bits"
	"slices"
)

// sequence is a number of literals followed by a match, or by no match if its length is 0. It is
// one number, so that it is stored at once:
//
//	literals 16 · length 16 · distance less 1, 24
type sequence uint64

func newSequence(literals, length, distance int) sequence {
	return sequence(uint64(literals) | uint64(length)<<16 | uint64(distance-1)<<32)
}

func (s sequence) literals() int { return int(s & 0xffff) }
func (s sequence) length() int   { return int(s >> 16 & 0xffff) }
func (s sequence) distance() int { return int(s>>32&0xffffff) + 1 }

const (
	// maxLiterals is the most literals of a sequence, maxLength the length of its longest match.
	maxLiterals = 1<<16 - 1
	maxLength   = 1<<16 - 1
)

// gathered holds literals and matches that are not written yet.
type gathered struct {
	literals  []byte
	sequences []sequence
	pending   int // literals since the last sequence
}

// add gathers ops, whose text starts at position at.
func (g *gathered) add(ops []op, text []byte, at int) {
	g.literals = slices.Grow(g.literals, len(text)+shortLiterals)
	g.sequences = slices.Grow(g.sequences, len(ops))
	for i := range ops {
		x := &ops[i]
		at += int(x.length)
		from, to := at, at+int(x.plain)
		if x.length >= shortMatch {
			g.match(int(x.length), int(x.distance))
		} else {
			from -= int(x.length)
		}
		g.literal(text, from, to)
		at = to
	}
}

// shortLiterals is the number of bytes that are copied at once, without a call.
const shortLiterals = 16

// literal adds the bytes from position from to position to of a text. The caller has reserved the
// room.
func (g *gathered) literal(text []byte, from, to int) {
	n, at := to-from, len(g.literals)
	g.literals = g.literals[:at+n]
	if n <= shortLiterals && from+shortLiterals <= len(text) {
		*(*[shortLiterals]byte)(g.literals[at : at+shortLiterals]) = *(*[shortLiterals]byte)(text[from:])
	} else {
		copy(g.literals[at:], text[from:to])
	}
	g.pending += n
}

// match adds a match of any length from minMatch on, after the pending literals.
func (g *gathered) match(length, distance int) {
	for ; g.pending > maxLiterals; g.pending -= maxLiterals {
		g.sequences = append(g.sequences, newSequence(maxLiterals, 0, 1))
	}
	for length > maxLength {
		// The rest is never too short.
		g.sequences = append(g.sequences, newSequence(g.pending, maxLength-minMatch, distance))
		g.pending = 0
		length -= maxLength - minMatch
	}
	g.sequences = append(g.sequences, newSequence(g.pending, length, distance))
	g.pending = 0
}

// close turns pending literals into sequences without a match.
func (g *gathered) close() {
	for g.pending > 0 {
		n := min(g.pending, maxLiterals)
		g.sequences = append(g.sequences, newSequence(n, 0, 1))
		g.pending -= n
	}
}

// forget drops everything gathered.
func (g *gathered) forget() { g.literals, g.sequences, g.pending = g.literals[:0], g.sequences[:0], 0 }

// empty reports whether nothing was gathered.
func (g *gathered) empty() bool { return len(g.sequences) == 0 && len(g.literals) == 0 }

// counts holds the frequency of each symbol of DEFLATE.
type counts struct {
	litLen [512]uint32 // litLenCodes of them; the length saves bounds checks
	dist   [32]uint32
}

// add counts the symbols of what was gathered.
func (c *counts) add(g *gathered) {
	c.literals(g.literals)
	for _, s := range g.sequences {
		if s.length() > 0 {
			c.match(s.length(), s.distance())
		}
	}
}

// ops counts the symbols of ops, whose text starts at position at.
func (c *counts) ops(ops []op, text []byte, at int) {
	for i := range ops {
		x := &ops[i]
		from := at
		at += int(x.length)
		if x.length >= shortMatch {
			c.match(int(x.length), int(x.distance))
			from = at
		}
		at += int(x.plain)
		c.literals(text[from:at])
	}
}

func (c *counts) literals(text []byte) {
	for _, l := range text {
		c.litLen[l]++
	}
}

func (c *counts) match(length, distance int) {
	symbol := distSymbol(uint32(distance-1)) & 31
	for length > 0 {
		n := firstMatch(length)
		length -= n
		c.litLen[lengthSymbol[n]&511]++
		c.dist[symbol]++
	}
}

// fade adds the last counts, after reducing the earlier ones by a quarter.
func (c *counts) fade(last *counts) {
	for s := range c.litLen[:litLenCodes] {
		c.litLen[s] += last.litLen[s] - c.litLen[s]>>2
	}
	for s := range c.dist {
		c.dist[s] += last.dist[s] - c.dist[s]>>2
	}
}

// cost returns the number of bits of the symbols in a code, without extra bits.
func (c *counts) cost(t *codeTable) (size uint) {
	for s, l := range t.litLenLengths {
		size += uint(c.litLen[s]) * uint(l)
	}
	for s, l := range t.distLengths {
		size += uint(c.dist[s]) * uint(l)
	}
	return size
}

// extra returns the number of extra bits of the symbols.
func (c *counts) extra() (size uint) {
	for s, n := range c.dist {
		size += uint(n) * uint(distExtra[s])
	}
	for n := minMatch + 1; n < maxMatch; n++ {
		if s := lengthSymbol[n]; s != lengthSymbol[n-1] {
			size += uint(c.litLen[s]) * uint(lengthExtra[n])
		}
	}
	return size
}

// least returns the approximate number of their bits in the best code.
func (c *counts) least() uint { return entropy(c.litLen[:litLenCodes]) + entropy(c.dist[:distCodes]) }

// entropy returns approximately the sum of n·log2(total/n).
func entropy(counts []uint32) uint {
	total, sum := uint64(0), uint64(0)
	for _, n := range counts {
		if n > 0 {
			total += uint64(n)
			sum += uint64(n) * log2(n)
		}
	}
	if total == 0 {
		return 0
	}
	return uint(total*log2(uint32(total))-sum) >> logBits
}

const logBits = 8

// log2 returns the binary logarithm of n, in units of 1/256.
func log2(n uint32) uint64 {
	k := bits.Len32(n) - 1
	return uint64(k)<<logBits + uint64(logFractions[n<<(31-k)<<1>>(32-6)])
}

// matches returns an upper bound of the number of matches gathered, when they are split by
// maxMatch.
func (g *gathered) matches() (n uint) {
	for _, s := range g.sequences {
		n += uint(s.length())/maxMatch + 2
	}
	return n
}
