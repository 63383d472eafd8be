package index

import (
	"math/bits"
	"sort"
)

// overlap is the number of rows that two chunks of sets have both.
func overlap(a *set, ca *chunk, b *set, cb *chunk) uint32 {
	switch {
	case ca.shape == empty || cb.shape == empty:
		return 0
	case ca.shape == full:
		return cb.rows
	case cb.shape == full:
		return ca.rows
	}
	if ca.shape > cb.shape { // runs, array, bitmap
		a, ca, b, cb = b, cb, a, ca
	}
	switch {
	case ca.shape == runs && cb.shape == runs && ca.n > cb.n:
		return overlapRuns(a, ca, b.pairs(cb))
	case ca.shape == runs:
		return overlapRuns(b, cb, a.pairs(ca))
	case ca.shape == bitmap:
		return overlapWords(a.words(ca), b.words(cb))
	case cb.shape == bitmap:
		return overlapProbes(a.values(ca), b.words(cb))
	}
	return overlapValues(a.values(ca), b.values(cb))
}

func overlapRuns(s *set, c *chunk, pairs []uint16) (n uint32) {
	for i := 0; i+1 < len(pairs); i += 2 {
		n += s.countRange(c, uint32(pairs[i]), uint32(pairs[i])+uint32(pairs[i+1])+1)
	}
	return n
}

func overlapWords(a, b *words) uint32 {
	n := 0
	for i, w := range a {
		n += bits.OnesCount64(w & b[i])
	}
	return uint32(n)
}

func overlapProbes(values []uint16, bm *words) uint32 {
	n := uint64(0)
	for _, v := range values {
		n += bm[v>>6] >> (v & 63) & 1
	}
	return uint32(n)
}

func overlapValues(a, b []uint16) (n uint32) {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b) > 32*len(a) {
		for _, v := range a {
			b = b[sort.Search(len(b), func(i int) bool { return b[i] >= v }):]
			if len(b) == 0 {
				break
			}
			if b[0] == v {
				n++
			}
		}
		return n
	}
	for i, k := 0, 0; i < len(a) && k < len(b); { // without a branch, as in intersect
		x, y := int32(a[i]), int32(b[k])
		stepA, stepB := 1+(y-x)>>31, 1+(x-y)>>31
		n += uint32(stepA & stepB)
		i += int(stepA)
		k += int(stepB)
	}
	return n
}

// countRange is the number of rows from to to-1 of a chunk, in rows of the chunk.
func (s *set) countRange(c *chunk, from, to uint32) uint32 {
	switch c.shape {
	case full:
		return min(to, c.rows) - min(from, c.rows)
	case runs:
		return countRuns(s.pairs(c), from, to)
	case array:
		values := s.values(c)
		values = values[sort.Search(len(values), func(i int) bool { return uint32(values[i]) >= from }):]
		return uint32(sort.Search(len(values), func(i int) bool { return uint32(values[i]) >= to }))
	case bitmap:
		return countBits(s.words(c), from, to)
	}
	return 0
}

// countRuns is the number of rows of runs that are from to to-1.
func countRuns(pairs []uint16, from, to uint32) (n uint32) {
	for pairs = pairs[runsBefore(pairs, from):]; len(pairs) > 0 && uint32(pairs[0]) < to; pairs = pairs[2:] {
		first, end := uint32(pairs[0]), uint32(pairs[0])+uint32(pairs[1])+1
		n += min(end, to) - max(first, from)
	}
	return n
}

// countBits is the number of bits set from from to to-1, which is greater than from.
func countBits(bm *words, from, to uint32) uint32 {
	first, last := from>>6, (to-1)>>6
	head, tail := ^uint64(0)<<(from&63), ^uint64(0)>>(63-(to-1)&63)
	if first == last {
		return uint32(bits.OnesCount64(bm[first] & head & tail))
	}
	n := bits.OnesCount64(bm[first]&head) + bits.OnesCount64(bm[last]&tail)
	for _, w := range bm[first+1 : last] {
		n += bits.OnesCount64(w)
	}
	return uint32(n)
}
