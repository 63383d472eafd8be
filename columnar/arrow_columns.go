package columnar

import (
	"encoding/binary"
	"math"
	"slices"

	"hdqs/index"
	"hdqs/snapshot"
)

// arrowColumn is a field of a stream. The values of most fields repeat, so they are looked up in a
// table that was made before: by tuple if the field belongs to a group of few tuples, which are
// unpacked once for all its fields, else by code. Exactly one of words, indices and flags is set,
// or none if the values are read one by one.
type arrowColumn struct {
	field   *Field
	byTuple bool
	words   []uint64 // numbers and times
	indices []uint32 // of texts, in the dictionary
	flags   []byte   // 1 or 0: booleans
	valid   []byte   // 0 for null, else 1; nil if nothing is null

	bits  []byte    // of the rows of a batch: those that are not null
	space []float64 // where floats are read to
}

// arrowTable is the most entries of a table, for each of which there are usually many rows.
const arrowTable = 1 << 16

// indexBits is the width of the indices of texts. It depends on the texts of the whole table, so
// that exports with other filters have the same schema.
func indexBits(c *snapshot.Column) int {
	if c.Cardinality() <= math.MaxInt16 {
		return 16
	}
	return 32
}

// newArrowColumn makes the table of a field. indices are those of its codes, if it is of texts.
func newArrowColumn(f *Field, indices []uint32) arrowColumn {
	a, c := arrowColumn{field: f}, f.Column
	a.byTuple = c.Group != nil && c.Len() <= arrowTable
	switch {
	case f.Type() == String:
		a.makeIndices(indices)
	case !a.byTuple && !(c.Coded() && c.Cardinality() < arrowTable):
	case f.Type() == Double:
		a.makeFloats()
	default:
		a.makeInts()
	}
	return a
}

// makeIndices makes the table of texts. The entries of codes and tuples that no row has are of no
// meaning.
func (a *arrowColumn) makeIndices(indices []uint32) {
	c := a.field.Column
	null := uint32(c.Cardinality())
	if !a.byTuple {
		a.indices = indices
		if c.Nullable {
			a.setNull(len(indices), int(null))
		}
		return
	}
	a.indices = make([]uint32, c.Len())
	c.Codes().Unpack(a.indices, 0)
	for i, code := range a.indices {
		if a.indices[i] = indices[code]; code == null {
			a.setNull(c.Len(), i)
		}
	}
}

// makeInts makes the table of whole numbers, times or booleans.
func (a *arrowColumn) makeInts() {
	c := a.field.Column
	var ints []int64
	if a.byTuple {
		ints = make([]int64, c.Len())
		c.Ints(ints, 0)
	} else {
		for code := range c.Cardinality() {
			ints = append(ints, c.IntOf(uint32(code)))
		}
		if c.Nullable {
			ints = append(ints, snapshot.NullInt)
		}
	}
	isFlag := a.field.Type() == Boolean
	if isFlag {
		a.flags = make([]byte, len(ints))
	} else {
		a.words = make([]uint64, len(ints))
	}
	for i, v := range ints {
		switch {
		case v == snapshot.NullInt:
			a.setNull(len(ints), i)
		case isFlag:
			a.flags[i] = byte(v)
		default:
			a.words[i] = uint64(v)
		}
	}
}

func (a *arrowColumn) makeFloats() {
	c := a.field.Column
	var decs []snapshot.Dec
	if a.byTuple {
		decs = make([]snapshot.Dec, c.Len())
		c.Decs(decs, 0)
	} else {
		for code := range c.Cardinality() {
			decs = append(decs, c.DecOf(uint32(code)))
		}
		if c.Nullable {
			decs = append(decs, snapshot.Dec{Scale: snapshot.DecNull})
		}
	}
	a.words = make([]uint64, len(decs))
	for i, d := range decs {
		if v := c.Float(d); math.IsNaN(v) {
			a.setNull(len(decs), i)
		} else {
			a.words[i] = math.Float64bits(v)
		}
	}
}

func (a *arrowColumn) setNull(n, entry int) {
	if a.valid == nil {
		a.valid = make([]byte, n)
		for i := range a.valid {
			a.valid[i] = 1
		}
	}
	a.valid[entry] = 0
}

func (a *arrowColumn) isTable() bool { return a.words != nil || a.indices != nil || a.flags != nil }

func (a *arrowColumn) entries(b *index.Batch) []uint32 {
	if a.byTuple {
		return b.Positions(a.field.Column)
	}
	return b.Codes(a.field.Column)
}

func (a *arrowColumn) size(rows int) int {
	switch {
	case a.flags != nil:
		return (rows + 7) / 8
	case a.indices != nil:
		return rows * indexBits(a.field.Column) / 8
	}
	return 8 * rows
}

// isNullable reports whether a value of any row may be null.
func (a *arrowColumn) isNullable() bool {
	if a.isTable() {
		return a.valid != nil
	}
	return a.field.Column.Nullable
}

// readValid appends to bits those of the rows of a batch, 0 for null, and returns how many are 1.
// The rows of all batches but the last are a multiple of 8.
func (a *arrowColumn) readValid(b *index.Batch) (ones int) {
	from := len(a.bits)
	a.bits = slices.Grow(a.bits, (b.Len()+7)/8)[:from+(b.Len()+7)/8]
	dst := a.bits[from:]
	switch {
	case a.isTable():
		return packBits(dst, a.valid, a.entries(b))
	case a.field.Type() == Double:
		a.space = appendFloats(a.space[:0], b, a.field.Column)
		return setBits(dst, a.space, func(v float64) bool { return !math.IsNaN(v) })
	}
	return setBits(dst, b.Ints(a.field.Column), func(v int64) bool { return v != snapshot.NullInt })
}

// setBits sets the bits of dst of values that are valid, clears the others, and returns how many it
// set.
func setBits[T any](dst []byte, values []T, isValid func(T) bool) (ones int) {
	clear(dst)
	for k, v := range values {
		if isValid(v) {
			dst[k>>3] |= 1 << (k & 7)
			ones++
		}
	}
	return ones
}

// read sets dst to the values of the rows of a batch, 0 for null. It has their size.
func (a *arrowColumn) read(dst []byte, b *index.Batch) {
	switch {
	case a.isTable():
		a.fill(dst, a.entries(b))
	case a.field.Type() == Double:
		a.space = appendFloats(a.space[:0], b, a.field.Column)
		for k, v := range a.space {
			if math.IsNaN(v) {
				v = 0
			}
			binary.LittleEndian.PutUint64(dst[8*k:], math.Float64bits(v))
		}
	default:
		for k, v := range b.Ints(a.field.Column) {
			if v == snapshot.NullInt {
				v = 0
			}
			binary.LittleEndian.PutUint64(dst[8*k:], uint64(v))
		}
	}
}

func (a *arrowColumn) fill(dst []byte, entries []uint32) {
	switch {
	case a.flags != nil:
		packBits(dst, a.flags, entries)
	case a.words != nil:
		for k, i := range entries {
			binary.LittleEndian.PutUint64(dst[8*k:], a.words[i])
		}
	case len(dst) == 2*len(entries):
		for k, i := range entries {
			binary.LittleEndian.PutUint16(dst[2*k:], uint16(a.indices[i]))
		}
	default:
		for k, i := range entries {
			binary.LittleEndian.PutUint32(dst[4*k:], a.indices[i])
		}
	}
}

// packBits sets the bits of dst to the elements of a table, each 1 or 0, and returns how many are
// 1.
func packBits(dst, table []byte, entries []uint32) (ones int) {
	clear(dst)
	for k, i := range entries {
		dst[k>>3] |= table[i] << (k & 7)
		ones += int(table[i])
	}
	return ones
}
