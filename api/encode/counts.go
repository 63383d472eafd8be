package encode

import "math"

// counts holds the frequency of each symbol of DEFLATE.
type counts struct {
	litLen [512]uint32 // litLenCodes of them; the length saves bounds checks
	dist   [32]uint32
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

// least returns about the number of their bits in the best code.
func (c *counts) least() uint { return entropy(c.litLen[:litLenCodes]) + entropy(c.dist[:distCodes]) }

// entropy returns the sum of n·log2(total/n).
func entropy(counts []uint32) uint {
	total, sum := 0.0, 0.0
	for _, n := range counts {
		if n > 0 {
			total += float64(n)
			sum += float64(n) * math.Log2(float64(n))
		}
	}
	return uint(max(total*math.Log2(max(total, 1))-sum, 0))
}
