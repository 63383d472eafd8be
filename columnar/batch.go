package columnar

import (
	"iter"
	"slices"

	"hdqs/index"
	"hdqs/snapshot"
)

// batch is some rows whose columns are read at a time. Tuple numbers are unpacked once for all
// columns of a group. The slices that its methods return are valid until the next call.
type batch struct {
	n      int // rows
	ranges []index.Range
	rows   []uint32 // the same, once they are needed
	tuples map[*snapshot.Group][]uint32

	whole *batch // the batch that this one is a part of, or nil
	from  int    // position in whole of the first row

	codes []uint32
	ints  []int64
	decs  []snapshot.Dec
}

// batches yields the rows in batches of at most size. The same batch is reused each time; at the
// end it still has the last rows.
func batches(rows Rows, size int) iter.Seq[*batch] {
	return new(batch).fill(rows, size)
}

// parts yields the rows of a batch in smaller ones, in part.
func (b *batch) parts(part *batch, size int) iter.Seq[*batch] {
	return func(yield func(*batch) bool) {
		part.whole, part.from = b, 0
		for range part.fill(slices.Values(b.ranges), size) {
			if !yield(part) {
				return
			}
			part.from += part.n
		}
	}
}

// fill yields the rows in turn, always in this batch.
func (b *batch) fill(rows Rows, size int) iter.Seq[*batch] {
	return func(yield func(*batch) bool) {
		b.reset()
		for r := range rows {
			for from := r.From; from < r.To; {
				if b.n == size {
					if !yield(b) {
						return
					}
					b.reset()
				}
				n := min(int(r.To-from), size-b.n)
				b.ranges = append(b.ranges, index.Range{From: from, To: from + uint32(n)})
				b.n += n
				from += uint32(n)
			}
		}
		if b.n > 0 {
			yield(b)
		}
	}
}

func (b *batch) reset() {
	b.n, b.rows, b.ranges = 0, b.rows[:0], b.ranges[:0]
	for g := range b.tuples {
		b.tuples[g] = b.tuples[g][:0]
	}
}

func (b *batch) rowIDs() []uint32 {
	if len(b.rows) != b.n {
		b.rows = slices.Grow(b.rows[:0], b.n)
		for _, r := range b.ranges {
			for row := r.From; row < r.To; row++ {
				b.rows = append(b.rows, row)
			}
		}
	}
	return b.rows
}

// positions returns the positions of the rows in a column: row ids, or tuple numbers.
func (b *batch) positions(c *snapshot.Column) []uint32 {
	if c.Group == nil {
		return b.rowIDs()
	}
	return b.readTuples(c.Group)
}

// readTuples returns the tuple numbers of the rows in a group.
func (b *batch) readTuples(g *snapshot.Group) []uint32 {
	if b.whole != nil {
		return b.whole.readTuples(g)[b.from : b.from+b.n]
	}
	tuples := b.tuples[g]
	if len(tuples) != b.n {
		tuples = resize(tuples, b.n)
		b.unpack(tuples, g.Codes)
		if b.tuples == nil {
			b.tuples = map[*snapshot.Group][]uint32{}
		}
		b.tuples[g] = tuples
	}
	return tuples
}

// longRun is from how many rows of a range on unpacking them in turn is faster than one by one.
const longRun = 8

// isScattered reports whether rows are read one by one.
func (b *batch) isScattered() bool { return b.n < longRun*len(b.ranges) }

func (b *batch) unpack(dst []uint32, p snapshot.Packed) {
	if b.isScattered() {
		p.Gather(dst, b.rowIDs())
	} else {
		readRanges(dst, b.ranges, p.Unpack)
	}
}

// readRanges sets dst to the values of rows, range by range.
func readRanges[T any](dst []T, ranges []index.Range, read func(dst []T, from uint32)) {
	for _, r := range ranges {
		n := r.To - r.From
		read(dst[:n], r.From)
		dst = dst[n:]
	}
}

// readCodes returns the codes of the rows in a coded column. Null has the code Cardinality.
func (b *batch) readCodes(c *snapshot.Column) []uint32 {
	b.codes = resize(b.codes, b.n)
	if c.Group == nil {
		b.unpack(b.codes, c.Codes())
	} else {
		c.Codes().Gather(b.codes, b.readTuples(c.Group))
	}
	return b.codes
}

// readInts returns the values of a column of kind Int, Bool or Time. Null is snapshot.NullInt.
func (b *batch) readInts(c *snapshot.Column) []int64 {
	b.ints = resize(b.ints, b.n)
	if c.Group == nil && !b.isScattered() {
		readRanges(b.ints, b.ranges, c.Ints)
	} else {
		c.IntsAt(b.ints, b.positions(c))
	}
	return b.ints
}

// readFloats appends to dst the values of a column of kind Decimal. Null is NaN, which no value is.
func (b *batch) readFloats(dst []float64, c *snapshot.Column) []float64 {
	b.decs = resize(b.decs, b.n)
	if c.Group == nil && !b.isScattered() {
		readRanges(b.decs, b.ranges, c.Decs)
	} else {
		c.DecsAt(b.decs, b.positions(c))
	}
	for _, d := range b.decs {
		dst = append(dst, c.Float(d))
	}
	return dst
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
