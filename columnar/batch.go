package columnar

import (
	"iter"
	"math"
	"strconv"

	"hdqs/index"
	"hdqs/snapshot"
)

// batch is some rows whose columns are read at a time. Tuple numbers are unpacked once for all
// columns of a group. The slices that its methods return are valid until the next call.
type batch struct {
	rows   []uint32
	ranges []index.Range // the same
	tuples map[*snapshot.Group][]uint32

	codes []uint32
	ints  []int64
	decs  []snapshot.Dec
}

// batches yields the rows in batches of at most size. It is always the same batch.
func batches(rows Rows, size int) iter.Seq[*batch] {
	return func(yield func(*batch) bool) {
		b := &batch{rows: make([]uint32, 0, size), tuples: map[*snapshot.Group][]uint32{}}
		for r := range rows {
			for from := r.From; from < r.To; {
				n := min(int(r.To-from), size-len(b.rows))
				b.add(index.Range{From: from, To: from + uint32(n)})
				from += uint32(n)
				if len(b.rows) == size {
					if !yield(b) {
						return
					}
					b.reset()
				}
			}
		}
		if len(b.rows) > 0 {
			yield(b)
		}
	}
}

func (b *batch) add(r index.Range) {
	b.ranges = append(b.ranges, r)
	for row := r.From; row < r.To; row++ {
		b.rows = append(b.rows, row)
	}
}

func (b *batch) reset() {
	b.rows, b.ranges = b.rows[:0], b.ranges[:0]
	for g := range b.tuples {
		b.tuples[g] = b.tuples[g][:0]
	}
}

// positions returns the positions of the rows in a column: row ids, or tuple numbers.
func (b *batch) positions(c *snapshot.Column) []uint32 {
	if c.Group == nil {
		return b.rows
	}
	return b.readTuples(c.Group)
}

// readTuples returns the tuple numbers of the rows in a group.
func (b *batch) readTuples(g *snapshot.Group) []uint32 {
	tuples := b.tuples[g]
	if len(tuples) != len(b.rows) {
		tuples = resize(tuples, len(b.rows))
		b.unpack(tuples, g.Codes)
		b.tuples[g] = tuples
	}
	return tuples
}

// longRun is from how many rows of a range on unpacking them in turn is faster than one by one.
const longRun = 8

// unpack sets dst to the numbers of the rows.
func (b *batch) unpack(dst []uint32, p snapshot.Packed) {
	if len(b.rows) < longRun*len(b.ranges) {
		p.Gather(dst, b.rows)
		return
	}
	for _, r := range b.ranges {
		n := r.To - r.From
		p.Unpack(dst[:n], r.From)
		dst = dst[n:]
	}
}

// readCodes returns the codes of the rows in a coded column. Null has the code Cardinality.
func (b *batch) readCodes(c *snapshot.Column) []uint32 {
	b.codes = resize(b.codes, len(b.rows))
	if c.Group == nil {
		b.unpack(b.codes, c.Codes())
	} else {
		c.Codes().Gather(b.codes, b.readTuples(c.Group))
	}
	return b.codes
}

// readInts returns the values of a column of kind Int, Bool or Time. Null is snapshot.NullInt.
func (b *batch) readInts(c *snapshot.Column) []int64 {
	b.ints = resize(b.ints, len(b.rows))
	c.IntsAt(b.ints, b.positions(c))
	return b.ints
}

// readFloats appends to dst the values of a column of kind Decimal. Null is NaN, which no value is.
func (b *batch) readFloats(dst []float64, c *snapshot.Column) []float64 {
	b.decs = resize(b.decs, len(b.rows))
	c.DecsAt(b.decs, b.positions(c))
	for _, d := range b.decs {
		dst = append(dst, floatOf(c, d))
	}
	return dst
}

// floatOf is a decimal of a column as a float, NaN for null. An exact text is rounded to the
// nearest float, which can be infinite.
func floatOf(c *snapshot.Column, d snapshot.Dec) float64 {
	switch d.Scale {
	case snapshot.DecNull:
		return math.NaN()
	case snapshot.DecText:
		f, _ := strconv.ParseFloat(c.DecString(d), 64) // in plain digits, so only its range can be wrong
		return f
	}
	return d.Float()
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
