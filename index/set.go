package index

import (
	"math/bits"
	"unsafe"
)

// A set of row ids is cut into chunks of 65,536 rows, the size of a roaring container. Each chunk
// has the shape that suits it.
const (
	chunkBits  = 16
	chunkRows  = 1 << chunkBits
	chunkWords = chunkRows / 64
)

// shape is the encoding of the rows of a chunk.
type shape uint8

const (
	empty  shape = iota // no row
	full                // every row the table has in this chunk
	runs                // pairs of 16 bits, first row and last row less first row, ascending, not touching
	array               // 16 bits a row, ascending
	bitmap              // 1,024 words of 64 bits
)

// chunk locates the rows of one chunk.
type chunk struct {
	at    uint32 // offset in the set's data
	rows  uint32 // number of rows, 1 to 65,536 unless empty
	n     uint16 // number of pairs of runs, of values of an array
	shape shape
}

// set is a set of row ids. It never changes once built, so any number of goroutines may share it.
// Its data is its own, or a view into the segment that must not be used after the segment is
// closed.
type set struct {
	chunks []chunk
	data   []byte // 8-byte aligned
	rows   int
	own    bool // data was allocated for this set
}

// words is a bitmap of a chunk.
type words = [chunkWords]uint64

func (s *set) pairs(c *chunk) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(&s.data[c.at])), 2*int(c.n))
}

func (s *set) values(c *chunk) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(&s.data[c.at])), int(c.n))
}

func (s *set) words(c *chunk) *words {
	return (*words)(unsafe.Pointer(&s.data[c.at]))
}

// size is the memory of the set in bytes, without the segment's.
func (s *set) size() int {
	n := int(unsafe.Sizeof(*s)) + cap(s.chunks)*int(unsafe.Sizeof(chunk{}))
	if s.own {
		n += cap(s.data)
	}
	return n
}

// allocate gives the set that many bytes of its own, a multiple of 8.
func (s *set) allocate(size int) {
	if size > 0 {
		buf := make([]uint64, size/8)
		s.data = unsafe.Slice((*byte)(unsafe.Pointer(&buf[0])), size)
	}
}

// chunkCount is the number of chunks of a table.
func chunkCount(rows int) int { return (rows + chunkRows - 1) / chunkRows }

// chunkSize is the number of rows the table has in chunk k.
func chunkSize(rows, k int) int { return min(chunkRows, rows-k*chunkRows) }

// The limits of the small shapes. A bitmap is the largest shape and the fastest to combine: half a
// nanosecond for 64 rows, against one or two for one value or run.
const (
	maxBuiltRuns   = 256
	maxBuiltValues = 1024
)

// builder collects rows and makes a set of them. Builders are reused; the sets they make do not
// point into them.
type builder struct {
	rows    int
	bitmaps []*words // of each chunk, nil while it has no row
	filled  []bool   // chunks that are full, whatever their bitmap has
	free    []*words
}

// reset makes the builder ready for a table of that many rows.
func (b *builder) reset(rows int) {
	b.rows = rows
	for k, bm := range b.bitmaps {
		if bm != nil {
			b.free = append(b.free, bm)
			b.bitmaps[k] = nil
		}
	}
	n := chunkCount(rows)
	if cap(b.bitmaps) < n {
		b.bitmaps, b.filled = make([]*words, n), make([]bool, n)
	}
	b.bitmaps, b.filled = b.bitmaps[:n], b.filled[:n]
	clear(b.filled)
}

// bitmap returns the bitmap of chunk k, cleared when it is new.
func (b *builder) bitmap(k int) *words {
	if b.bitmaps[k] == nil {
		if n := len(b.free); n > 0 {
			b.bitmaps[k], b.free = b.free[n-1], b.free[:n-1]
			*b.bitmaps[k] = words{}
		} else {
			b.bitmaps[k] = new(words)
		}
	}
	return b.bitmaps[k]
}

// addRow adds one row.
func (b *builder) addRow(row uint32) {
	b.bitmap(int(row >> chunkBits))[row&(chunkRows-1)>>6] |= 1 << (row & 63)
}

// addRange adds the rows from to to-1.
func (b *builder) addRange(from, to uint32) {
	perChunk([]Range{{from, to}}, func(k int, from, to uint32) {
		if int(to-from) == chunkSize(b.rows, k) {
			b.filled[k] = true
		} else {
			fillBits(b.bitmap(k), from, to)
		}
	})
}

// addBuilder adds the rows of another builder of the same table.
func (b *builder) addBuilder(other *builder) {
	for k, bm := range other.bitmaps {
		switch {
		case other.filled[k]:
			b.filled[k] = true
		case bm != nil:
			dst := b.bitmap(k)
			for i, w := range bm {
				dst[i] |= w
			}
		}
	}
}

// add adds the rows of a set.
func (b *builder) add(s *set) {
	for k := range s.chunks {
		c := &s.chunks[k]
		switch {
		case c.shape == empty || b.filled[k]:
			continue
		case c.shape == full:
			b.filled[k] = true
			continue
		}
		s.addTo(b.bitmap(k), c)
	}
}

// addTo adds the rows of a chunk, neither empty nor full, to a bitmap.
func (s *set) addTo(bm *words, c *chunk) {
	switch c.shape {
	case runs:
		pairs := s.pairs(c)
		for i := 0; i+1 < len(pairs); i += 2 {
			fillBits(bm, uint32(pairs[i]), uint32(pairs[i])+uint32(pairs[i+1])+1)
		}
	case array:
		for _, v := range s.values(c) {
			bm[v>>6] |= 1 << (v & 63)
		}
	case bitmap:
		for i, w := range s.words(c) {
			bm[i] |= w
		}
	}
}

// bits returns the rows of a chunk as a bitmap: that of the set, or buf.
func (s *set) bits(c *chunk, buf *words) *words {
	if c.shape == bitmap {
		return s.words(c)
	}
	clear(buf[:])
	if c.shape == full {
		fillBits(buf, 0, c.rows)
	} else {
		s.addTo(buf, c)
	}
	return buf
}

// negate replaces the collected rows by all others.
func (b *builder) negate() {
	for k := range b.bitmaps {
		switch {
		case b.filled[k]:
			b.filled[k] = false
			if b.bitmaps[k] != nil {
				*b.bitmaps[k] = words{}
			}
		case b.bitmaps[k] == nil:
			b.filled[k] = true
		default:
			bm, size := b.bitmaps[k], uint32(chunkSize(b.rows, k))
			for i := range bm {
				bm[i] = ^bm[i]
			}
			clearBits(bm, size, chunkRows)
		}
	}
}

// build makes the set of the collected rows.
func (b *builder) build() *set {
	s := &set{chunks: make([]chunk, len(b.bitmaps)), own: true}
	// One pass to choose shapes and places, one to write, so that the data is allocated once and
	// exactly.
	at := 0
	for k := range s.chunks {
		c := &s.chunks[k]
		if b.filled[k] {
			c.shape, c.rows = full, uint32(chunkSize(b.rows, k))
		} else if b.bitmaps[k] != nil {
			b.choose(k, c)
		}
		s.rows += int(c.rows)
		c.at = uint32(at)
		switch c.shape {
		case runs:
			at += 4 * int(c.n)
		case array:
			at += 2 * int(c.n)
		case bitmap:
			at += 8 * chunkWords
		}
		at = (at + 7) &^ 7
	}
	s.allocate(at)
	for k := range s.chunks {
		switch c := &s.chunks[k]; c.shape {
		case runs:
			writeRuns(s.pairs(c), b.bitmaps[k])
		case array:
			writeValues(s.values(c), b.bitmaps[k])
		case bitmap:
			*s.words(c) = *b.bitmaps[k]
		}
	}
	return s
}

// choose decides the shape of chunk k.
func (b *builder) choose(k int, c *chunk) {
	rows, starts, carry := 0, 0, uint64(0)
	for _, w := range b.bitmaps[k] {
		rows += bits.OnesCount64(w)
		starts += bits.OnesCount64(w &^ (w<<1 | carry))
		carry = w >> 63
	}
	c.rows = uint32(rows)
	switch {
	case rows == 0:
		c.shape = empty
	case rows == chunkSize(b.rows, k):
		c.shape = full
	case starts <= maxBuiltRuns && starts*2 <= rows:
		c.shape, c.n = runs, uint16(starts)
	case rows <= maxBuiltValues:
		c.shape, c.n = array, uint16(rows)
	default:
		c.shape = bitmap
	}
}

// writeRuns writes the runs of ones of a bitmap as pairs.
func writeRuns(dst []uint16, bm *words) {
	n := 0
	eachRun(bm[:], func(from, to uint32) bool {
		dst[n], dst[n+1] = uint16(from), uint16(to-from-1)
		n += 2
		return true
	})
}

// writeValues writes the positions of the ones of a bitmap.
func writeValues(dst []uint16, bm *words) {
	n := 0
	for i, w := range bm {
		for ; w != 0; w &= w - 1 {
			dst[n] = uint16(i<<6 + bits.TrailingZeros64(w))
			n++
		}
	}
}

// fillBits sets the bits from to to-1.
func fillBits(bm *words, from, to uint32) {
	if from >= to {
		return
	}
	first, last := from>>6, (to-1)>>6
	head, tail := ^uint64(0)<<(from&63), ^uint64(0)>>(63-(to-1)&63)
	if first == last {
		bm[first] |= head & tail
		return
	}
	bm[first] |= head
	for i := first + 1; i < last; i++ {
		bm[i] = ^uint64(0)
	}
	bm[last] |= tail
}

// clearBits clears the bits from to to-1.
func clearBits(bm *words, from, to uint32) {
	if from >= to {
		return
	}
	first, last := from>>6, (to-1)>>6
	head, tail := ^uint64(0)<<(from&63), ^uint64(0)>>(63-(to-1)&63)
	if first == last {
		bm[first] &^= head & tail
		return
	}
	bm[first] &^= head
	clear(bm[first+1 : last])
	bm[last] &^= tail
}

// eachRun calls f with each run of ones, as bit numbers from and to (exclusive), until f returns
// false.
func eachRun(bm []uint64, f func(from, to uint32) bool) {
	from, open := uint32(0), false
	for i, w := range bm {
		base := uint32(i) << 6
		switch {
		case open && w == ^uint64(0):
			continue
		case open:
			n := uint32(bits.TrailingZeros64(^w))
			if !f(from, base+n) {
				return
			}
			open = false
			w &= ^uint64(0) << n
		}
		for w != 0 {
			first := uint32(bits.TrailingZeros64(w))
			n := uint32(bits.TrailingZeros64(^(w >> first)))
			if first+n >= 64 {
				from, open = base+first, true
				break
			}
			if !f(base+first, base+first+n) {
				return
			}
			w &= ^uint64(0) << (first + n)
		}
	}
	if open {
		f(from, uint32(len(bm))<<6)
	}
}
