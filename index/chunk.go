package index

import (
	"math/bits"
	"sort"
)

// rowsOf is the rows of one chunk while predicates are intersected: at first a view of the smallest
// predicate, then what is left of it, in buffers of its own. Only the words from lo to hi of a
// bitmap are valid.
type rowsOf struct {
	shape  shape
	size   int      // rows of the table in the chunk, passing or not
	pairs  []uint16 // runs
	values []uint16 // array
	words  *words   // bitmap
	lo, hi int      // the first valid word, and the end of them
	known  int      // number of rows, -1 when not counted yet

	ownWords words
	tested   words
	valueBuf [2][maxArray]uint16
	pairBuf  [2][2 * maxPairs]uint16
	turn     int // which of the two buffers is free
}

// maxPairs is the largest number of pairs kept as runs. More take longer to combine than a bitmap.
const maxPairs = 1024

// load sets r to a chunk of a set.
func (r *rowsOf) load(s *set, c *chunk, size int) {
	r.shape, r.size, r.known = c.shape, size, int(c.rows)
	switch c.shape {
	case runs:
		r.pairs = s.pairs(c)
	case array:
		r.values = s.values(c)
	case bitmap:
		r.words, r.lo, r.hi = s.words(c), 0, (size+63)/64
	}
}

// loadAll sets r to all rows of a chunk.
func (r *rowsOf) loadAll(size int) { r.shape, r.size, r.known = full, size, size }

// and keeps the rows that are also in a chunk of a set.
func (r *rowsOf) and(s *set, c *chunk) {
	switch {
	case r.shape == empty || c.shape == full:
		return
	case c.shape == empty:
		r.shape, r.known = empty, 0
		return
	case r.shape == full:
		r.load(s, c, r.size)
		return
	}
	r.known = -1
	switch {
	case r.shape == array && c.shape == array:
		r.setValues(intersect(r.freeValues(), r.values, s.values(c)))
	case r.shape == array && c.shape == bitmap:
		r.setValues(probe(r.freeValues(), r.values, s.words(c)))
	case r.shape == array:
		r.setValues(within(r.freeValues(), r.values, s.pairs(c)))
	case r.shape == runs && c.shape == array:
		r.setValues(within(r.freeValues(), s.values(c), r.pairs))
	case r.shape == runs && c.shape == runs:
		r.andRuns(s.pairs(c))
	case r.shape == runs:
		pairs := r.pairs
		r.words, r.lo, r.hi = s.words(c), 0, (r.size+63)/64
		r.maskBy(pairs)
	case c.shape == array:
		r.setValues(probe(r.freeValues(), r.inWindow(s.values(c)), r.words))
	case c.shape == runs:
		r.maskBy(s.pairs(c))
	default:
		r.andBitmap(s.words(c))
	}
}

// andBitmap keeps the rows of a bitmap that are also in another.
func (r *rowsOf) andBitmap(other *words) {
	a, b, dst := r.words[r.lo:r.hi], other[r.lo:r.hi], r.ownWords[r.lo:r.hi]
	if len(b) != len(a) || len(dst) != len(a) {
		return
	}
	for i, w := range a {
		dst[i] = w & b[i]
	}
	r.shape, r.words = bitmap, &r.ownWords
}

// maskBy keeps the rows of a bitmap that are in runs.
func (r *rowsOf) maskBy(pairs []uint16) {
	end := uint32(pairs[len(pairs)-2]) + uint32(pairs[len(pairs)-1]) + 1
	lo, hi := max(r.lo, int(pairs[0]>>6)), min(r.hi, int(end+63)>>6)
	if lo >= hi {
		r.shape, r.known = empty, 0
		return
	}
	if r.words != &r.ownWords {
		copy(r.ownWords[lo:hi], r.words[lo:hi])
	}
	r.shape, r.words, r.lo, r.hi = bitmap, &r.ownWords, lo, hi
	from := uint32(lo) << 6 // rows from here on are not yet known to be in a run
	for i := 0; i+1 < len(pairs); i += 2 {
		first := uint32(pairs[i])
		if first > from {
			clearBits(r.words, from, min(first, uint32(hi)<<6))
		}
		if from = first + uint32(pairs[i+1]) + 1; from >= uint32(hi)<<6 {
			return
		}
	}
	clearBits(r.words, from, uint32(hi)<<6)
}

// andRuns keeps the rows of runs that are also in other runs.
func (r *rowsOf) andRuns(other []uint16) {
	if len(r.pairs)+len(other) > 2*maxPairs {
		pairs := r.pairs
		r.toBitmap()
		if len(pairs) > 0 {
			r.maskBy(other)
		}
		return
	}
	dst, n := r.pairBuf[r.turn][:], 0
	r.turn ^= 1
	a, b := r.pairs, other
	if len(a) > len(b) {
		a, b = b, a
	}
	for i := 0; i+1 < len(a) && len(b) > 0; i += 2 {
		first, last := uint32(a[i]), uint32(a[i])+uint32(a[i+1])
		b = b[runsBefore(b, first):]
		for k := 0; k+1 < len(b); k += 2 {
			from, to := uint32(b[k]), uint32(b[k])+uint32(b[k+1])
			if from > last {
				break
			}
			from, to = max(from, first), min(to, last)
			dst[n], dst[n+1] = uint16(from), uint16(to-from)
			n += 2
		}
	}
	r.pairs, r.shape = dst[:n], runs
	if n == 0 {
		r.shape, r.known = empty, 0
	}
}

// runsBefore is the length of the leading runs that end before row. It looks at a few one by one,
// then bisects.
func runsBefore(pairs []uint16, row uint32) int {
	for i := 0; i < 16; i += 2 {
		if i >= len(pairs) || uint32(pairs[i])+uint32(pairs[i+1]) >= row {
			return i
		}
	}
	return 2 * sort.Search(len(pairs)/2, func(i int) bool {
		return uint32(pairs[2*i])+uint32(pairs[2*i+1]) >= row
	})
}

// toBitmap turns any shape into a bitmap in ownWords.
func (r *rowsOf) toBitmap() {
	switch r.shape {
	case full:
		r.lo, r.hi = 0, (r.size+63)/64
		fillBits(&r.ownWords, 0, uint32(r.size))
		if r.size&63 != 0 {
			r.ownWords[r.hi-1] &= 1<<(r.size&63) - 1
		}
	case runs:
		n := len(r.pairs)
		r.lo, r.hi = int(r.pairs[0]>>6), (int(r.pairs[n-2])+int(r.pairs[n-1]))>>6+1
		clear(r.ownWords[r.lo:r.hi])
		for i := 0; i+1 < n; i += 2 {
			fillBits(&r.ownWords, uint32(r.pairs[i]), uint32(r.pairs[i])+uint32(r.pairs[i+1])+1)
		}
	case bitmap:
		if r.words != &r.ownWords {
			copy(r.ownWords[r.lo:r.hi], r.words[r.lo:r.hi])
		}
	default:
		return
	}
	r.shape, r.words = bitmap, &r.ownWords
}

// bitmap returns the rows as a bitmap of which all words are valid, in any shape.
func (r *rowsOf) bitmap() *words {
	switch {
	case r.shape == bitmap && r.words != &r.ownWords: // a whole chunk of a set, read in place
		return r.words
	case r.shape == empty || r.shape == array:
		clear(r.ownWords[:])
		if r.shape == array {
			for _, v := range r.values {
				r.ownWords[v>>6] |= 1 << (v & 63)
			}
		}
	default:
		r.toBitmap()
		clear(r.ownWords[:r.lo])
		clear(r.ownWords[r.hi:])
	}
	r.shape, r.words, r.lo, r.hi, r.known = bitmap, &r.ownWords, 0, chunkWords, -1
	return r.words
}

// test keeps the rows that pass a predicate that is not materialized. base is the first row of the
// chunk.
func (r *rowsOf) test(o *predicate, base uint32) {
	if r.shape == empty {
		return
	}
	r.known = -1
	if r.shape == array {
		dst, n := r.freeValues(), 0
		for _, v := range r.values {
			if o.passes(base + uint32(v)) {
				dst[n] = v
				n++
			}
		}
		r.setValues(dst[:n])
		return
	}
	r.toBitmap()
	rows := r.count()
	if rows*candidateFactor >= (r.hi-r.lo)*64 {
		from := r.lo * 64
		tested := r.tested[r.lo:r.hi]
		clear(tested)
		o.testRange(base+uint32(from), min(r.hi*64, r.size)-from, tested)
		for i, w := range tested {
			r.words[r.lo+i] &= w
		}
	} else {
		for i := r.lo; i < r.hi; i++ {
			if w := r.words[i]; w != 0 {
				r.words[i] = o.testWord(base+uint32(i)<<6, w)
			}
		}
	}
	r.known = -1
}

// count is the number of rows.
func (r *rowsOf) count() int {
	if r.known >= 0 {
		return r.known
	}
	n := 0
	switch r.shape {
	case runs:
		for i := 1; i < len(r.pairs); i += 2 {
			n += int(r.pairs[i]) + 1
		}
	case array:
		n = len(r.values)
	case bitmap:
		n = countBits(r.words[r.lo:r.hi])
	}
	r.known = n
	return n
}

// countBits takes four words at a time: a loop of one is up to 40 % slower at some addresses.
func countBits(words []uint64) (n int) {
	for ; len(words) >= 4; words = words[4:] {
		n += bits.OnesCount64(words[0]) + bits.OnesCount64(words[1]) +
			bits.OnesCount64(words[2]) + bits.OnesCount64(words[3])
	}
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return n
}

// countAnd is the number of rows that are also in a chunk of a set. It does not write them down
// where it can avoid that.
func (r *rowsOf) countAnd(s *set, c *chunk) int {
	if r.shape != bitmap || c.shape != bitmap {
		r.and(s, c)
		return r.count()
	}
	a, b := r.words[r.lo:r.hi], s.words(c)[r.lo:r.hi]
	if len(a) != len(b) {
		return 0
	}
	n := 0
	for i, w := range a {
		n += bits.OnesCount64(w & b[i])
	}
	return n
}

func (r *rowsOf) freeValues() []uint16 {
	r.turn ^= 1
	return r.valueBuf[r.turn][:]
}

func (r *rowsOf) setValues(values []uint16) {
	r.values, r.shape, r.known = values, array, len(values)
	if len(values) == 0 {
		r.shape = empty
	}
}

// inWindow returns the values in the valid words.
func (r *rowsOf) inWindow(values []uint16) []uint16 {
	if r.lo > 0 {
		values = values[sort.Search(len(values), func(i int) bool { return int(values[i]) >= r.lo*64 }):]
	}
	if r.hi < chunkWords {
		values = values[:sort.Search(len(values), func(i int) bool { return int(values[i]) >= r.hi*64 })]
	}
	return values
}

// intersect writes the values that are in both lists.
func intersect(dst, a, b []uint16) []uint16 {
	if len(a) > len(b) {
		a, b = b, a
	}
	n := 0
	if len(b) > 32*len(a) {
		for _, v := range a {
			b = b[sort.Search(len(b), func(i int) bool { return b[i] >= v }):]
			if len(b) == 0 {
				break
			}
			if b[0] == v {
				dst[n] = v
				n++
			}
		}
		return dst[:n]
	}
	// Each step advances the list with the smaller value, or both when equal, without a branch: it
	// would be mispredicted half of the time.
	for i, k := 0, 0; i < len(a) && k < len(b); {
		x, y := int32(a[i]), int32(b[k])
		dst[n] = a[i]
		stepA, stepB := 1+(y-x)>>31, 1+(x-y)>>31 // 1 when x <= y, 1 when y <= x
		n += int(stepA & stepB)
		i += int(stepA)
		k += int(stepB)
	}
	return dst[:n]
}

// probe writes the values whose bit is set.
func probe(dst, values []uint16, bm *words) []uint16 {
	n := 0
	for _, v := range values {
		dst[n] = v
		n += int(bm[v>>6] >> (v & 63) & 1)
	}
	return dst[:n]
}

// within writes the values that are in runs.
func within(dst, values, pairs []uint16) []uint16 {
	n := 0
	for len(values) > 0 {
		pairs = pairs[runsBefore(pairs, uint32(values[0])):]
		if len(pairs) == 0 {
			break
		}
		first, last := pairs[0], pairs[0]+pairs[1]
		if values[0] < first {
			values = values[valuesBefore(values, first):]
		}
		for len(values) > 0 && values[0] <= last {
			dst[n] = values[0]
			n++
			values = values[1:]
		}
	}
	return dst[:n]
}

// valuesBefore is the number of leading values below first.
func valuesBefore(values []uint16, first uint16) int {
	for i := range min(8, len(values)) {
		if values[i] >= first {
			return i
		}
	}
	return sort.Search(len(values), func(i int) bool { return values[i] >= first })
}
