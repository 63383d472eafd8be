package encode

import (
	"math/bits"
	"slices"
)

// code is a Huffman code: its bits, in the order in which they are written, above a byte with their
// number.
type code uint32

func (c code) bits() uint64 { return uint64(c >> 8) }
func (c code) len() uint    { return uint(c & 0xff) }

// huffman builds codes of limited length from counts. Its memory is reused.
type huffman struct {
	sorted  []uint64 // count above symbol, ascending
	weights []uint32
}

// symbolBits is the width of a symbol below its count.
const symbolBits = 9

// lengths sets the code length of each symbol: 0 if its count is 0, otherwise at most limit. At
// least two counts must be above 0.
func (h *huffman) lengths(lengths []uint8, counts []uint32, limit int) {
	h.sorted = h.sorted[:0]
	clear(lengths)
	for s, n := range counts {
		if n > 0 {
			h.sorted = append(h.sorted, uint64(n)<<symbolBits|uint64(s))
		}
	}
	slices.Sort(h.sorted)
	n := len(h.sorted)
	h.weights = h.weights[:0]
	for _, s := range h.sorted {
		h.weights = append(h.weights, uint32(s>>symbolBits))
	}
	minimumRedundancy(h.weights)
	var of [64]int // number of codes of each length
	for _, l := range h.weights {
		of[min(int(l), limit)]++
	}
	enforceLimit(&of, limit)
	// The rarest symbols come first and take the longest codes.
	i := 0
	for l := limit; l > 0; l-- {
		for range of[l] {
			lengths[h.sorted[i]&(1<<symbolBits-1)] = uint8(l)
			i++
		}
	}
	if i != n {
		panic("encode: code lengths do not add up")
	}
}

// minimumRedundancy turns ascending weights into the code lengths of an optimal code, in place
// (Moffat and Katajainen 1995).
func minimumRedundancy(a []uint32) {
	n := len(a)
	// Weights of internal nodes, then their parents, left to right.
	a[0] += a[1]
	root, leaf := 0, 2
	for next := 1; next < n-1; next++ {
		if leaf >= n || a[root] < a[leaf] {
			a[next] = a[root]
			a[root] = uint32(next)
			root++
		} else {
			a[next] = a[leaf]
			leaf++
		}
		if leaf >= n || root < next && a[root] < a[leaf] {
			a[next] += a[root]
			a[root] = uint32(next)
			root++
		} else {
			a[next] += a[leaf]
			leaf++
		}
	}
	// Depths of internal nodes.
	a[n-2] = 0
	for next := n - 3; next >= 0; next-- {
		a[next] = a[a[next]] + 1
	}
	// Depths of leaves.
	avail, used, depth := 1, 0, uint32(0)
	root = n - 2
	for next := n - 1; avail > 0; {
		for root >= 0 && a[root] == depth {
			used++
			root--
		}
		for avail > used {
			a[next] = depth
			next--
			avail--
		}
		avail, used = 2*used, 0
		depth++
	}
}

// enforceLimit restores a complete code after too long code lengths were cut to limit: it removes
// codes of length limit, each by splitting a shorter code into two that are one bit longer, until
// the codes fit.
func enforceLimit(of *[64]int, limit int) {
	total := 0
	for l := 1; l <= limit; l++ {
		total += of[l] << (limit - l)
	}
	for ; total > 1<<limit; total-- {
		of[limit]--
		for l := limit - 1; l > 0; l-- {
			if of[l] > 0 {
				of[l]--
				of[l+1] += 2
				break
			}
		}
	}
}

// canonical sets the codes that DEFLATE assigns to code lengths.
func canonical(codes []code, lengths []uint8) {
	var of, next [16]uint32
	for _, l := range lengths {
		of[l]++
	}
	of[0] = 0
	for l := 1; l < len(next); l++ {
		next[l] = (next[l-1] + of[l-1]) << 1
	}
	for s, l := range lengths {
		codes[s] = 0
		if l > 0 {
			codes[s] = code(bits.Reverse32(next[l])>>(32-l))<<8 | code(l)
			next[l]++
		}
	}
}
