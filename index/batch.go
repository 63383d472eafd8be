package index

import (
	"iter"
	"math/bits"
	"slices"

	"hdqs/snapshot"
)

// Batch is some rows of a segment whose values are read together, in the order in which they were
// added: of a page, of an export, of a sum, or of two states that are compared. To unpack values
// that follow each other is several times faster than to find each, so rows are kept as ranges.
//
// The zero value has no rows. A batch reuses its memory: what its methods return is valid until the
// next call of the same method, or until Clear. It is for one goroutine, and must not be used after
// the segment is closed.
type Batch struct {
	n        int
	ranges   []Range    // none once there are rows of AddBits
	ids      []uint32   // the same rows, once they are needed
	unpacked []unpacked // what Unpacked has read

	codes   []uint32
	numbers []uint64
	ints    []int64
	decs    []snapshot.Dec

	whole *Batch // the batch that this one is a part of, or nil
	from  int    // position in whole of the first row
}

// unpacked is the numbers of the rows in a column of codes, or in a group.
type unpacked struct {
	of      *snapshot.Packed
	numbers []uint32
}

// Len is the number of rows.
func (b *Batch) Len() int { return b.n }

// Clear takes all rows out.
func (b *Batch) Clear() {
	b.n, b.ranges, b.ids = 0, b.ranges[:0], b.ids[:0]
	for i := range b.unpacked {
		b.unpacked[i].of = nil
	}
	b.unpacked = b.unpacked[:0]
}

// Add adds the rows from to to-1, as long as there are fewer than most, and returns the first row
// that was not added.
func (b *Batch) Add(from, to uint32, most int) uint32 {
	if room := uint32(most - b.n); to-from > room {
		to = from + room
	}
	switch {
	case from == to:
		return to
	case b.n > 0 && len(b.ranges) == 0:
		for row := from; row < to; row++ {
			b.ids = append(b.ids, row)
		}
	default:
		b.ranges = append(b.ranges, Range{From: from, To: to})
	}
	b.n += int(to - from)
	return to
}

// AddBits adds the rows of whole words of a bitmap, whose lowest bit is the row from, as long as
// there is room for 64 rows below most. It returns the number of these words. Rows that lie apart
// take less to add this way.
func (b *Batch) AddBits(from uint32, words []uint64, most int) int {
	ids, n := b.IDs(), 0
	for n < len(words) && len(ids) <= most-64 {
		first := from + uint32(n)<<6
		for word := words[n]; word != 0; word &= word - 1 {
			ids = append(ids, first+uint32(bits.TrailingZeros64(word)))
		}
		n++
	}
	b.ids, b.n, b.ranges = ids, len(ids), b.ranges[:0]
	return n
}

// all yields the rows as ranges.
func (b *Batch) all(yield func(Range) bool) {
	if len(b.ranges) > 0 {
		slices.Values(b.ranges)(yield)
		return
	}
	for _, row := range b.ids {
		if !yield(Range{row, row + 1}) {
			return
		}
	}
}

// Batches yields rows in batches of at most size, none of them empty. It is always the same batch;
// at the end it still has the last rows.
func Batches(rows iter.Seq[Range], size int) iter.Seq[*Batch] { return new(Batch).fill(rows, size) }

func (b *Batch) fill(rows iter.Seq[Range], size int) iter.Seq[*Batch] {
	return func(yield func(*Batch) bool) {
		b.Clear()
		for r := range rows {
			for r.From < r.To {
				if b.n == size {
					if !yield(b) {
						return
					}
					b.Clear()
				}
				r.From = b.Add(r.From, r.To, size)
			}
		}
		if b.n > 0 {
			yield(b)
		}
	}
}

// Parts yields the rows of b in smaller batches, in part. What was unpacked of b is not unpacked
// again for them.
func (b *Batch) Parts(part *Batch, size int) iter.Seq[*Batch] {
	return func(yield func(*Batch) bool) {
		part.whole, part.from = b, 0
		for range part.fill(b.all, size) {
			if !yield(part) {
				return
			}
			part.from += part.n
		}
	}
}

// IDs are the ids of the rows.
func (b *Batch) IDs() []uint32 {
	if len(b.ids) != b.n {
		b.ids = resize(b.ids, b.n)
		rest := b.ids
		for _, r := range b.ranges {
			for i := range r.To - r.From {
				rest[i] = r.From + i
			}
			rest = rest[r.To-r.From:]
		}
	}
	return b.ids
}

// sweep is how many rows the ranges must have on average for one call for each of them to pay off.
const sweep = 8

func (b *Batch) isScattered() bool { return len(b.ranges) == 0 || b.n < sweep*len(b.ranges) }

// Unpack sets dst to the numbers of the rows in p, each truncated to 32 bits.
func (b *Batch) Unpack(dst []uint32, p *snapshot.Packed) {
	read(b, dst, *p, snapshot.Packed.Unpack, snapshot.Packed.Gather)
}

// Unpacked returns the numbers of the rows in p, which it unpacks at the first call only.
func (b *Batch) Unpacked(p *snapshot.Packed) []uint32 {
	numbers, known := b.remembered(p)
	if !known {
		b.Unpack(numbers, p)
	}
	return numbers
}

// InSpace returns the codes of the rows in a space, as Unpacked does. The rows must ascend.
func (b *Batch) InSpace(s *Space) []uint32 {
	codes, known := b.remembered(&s.codes)
	if !known && !(b.isScattered() && s.Runs().fill(codes, b.IDs())) {
		b.Unpack(codes, &s.codes)
	}
	return codes
}

// remembered returns the numbers of the rows in p, or the memory for them if they are not known.
func (b *Batch) remembered(p *snapshot.Packed) (numbers []uint32, known bool) {
	for i := range b.unpacked {
		if b.unpacked[i].of == p {
			return b.unpacked[i].numbers, true
		}
	}
	if b.whole != nil {
		return b.whole.Unpacked(p)[b.from : b.from+b.n], true
	}
	k := len(b.unpacked)
	b.unpacked = slices.Grow(b.unpacked, 1)[:k+1]
	u := &b.unpacked[k]
	u.of, u.numbers = p, resize(u.numbers, b.n)
	return u.numbers, false
}

// Positions are the positions of the rows in a column: row ids, or tuple numbers.
func (b *Batch) Positions(c *snapshot.Column) []uint32 {
	if c.Group == nil {
		return b.IDs()
	}
	return b.Unpacked(&c.Group.Codes)
}

// Numbers returns the numbers of the rows in p.
func (b *Batch) Numbers(p *snapshot.Packed) []uint64 {
	b.numbers = resize(b.numbers, b.n)
	read(b, b.numbers, *p, snapshot.Packed.Unpack64, snapshot.Packed.Gather64)
	return b.numbers
}

// Codes returns the codes of the rows in a coded column. Null has the code Cardinality.
func (b *Batch) Codes(c *snapshot.Column) []uint32 {
	b.codes = resize(b.codes, b.n)
	if codes := c.Codes(); c.Group != nil {
		codes.Gather(b.codes, b.Positions(c))
	} else {
		b.Unpack(b.codes, &codes)
	}
	return b.codes
}

// Ints returns the values of a column of kind Int, Bool or Time. Null is snapshot.NullInt.
func (b *Batch) Ints(c *snapshot.Column) []int64 {
	b.ints = resize(b.ints, b.n)
	if c.Group != nil {
		c.IntsAt(b.ints, b.Positions(c))
	} else {
		read(b, b.ints, c, (*snapshot.Column).Ints, (*snapshot.Column).IntsAt)
	}
	return b.ints
}

// Decs returns the values of a column of kind Decimal.
func (b *Batch) Decs(c *snapshot.Column) []snapshot.Dec {
	b.decs = resize(b.decs, b.n)
	if c.Group != nil {
		c.DecsAt(b.decs, b.Positions(c))
	} else {
		read(b, b.decs, c, (*snapshot.Column).Decs, (*snapshot.Column).DecsAt)
	}
	return b.decs
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// read sets dst to the values of the rows in a column: run sets those of successive rows, each
// those of others. They are not methods of the column at hand, which would take memory at each
// call.
func read[T, C any](
	b *Batch, dst []T, c C,
	run func(c C, dst []T, from uint32), each func(c C, dst []T, at []uint32),
) {
	if b.isScattered() {
		each(c, dst, b.IDs())
		return
	}
	for _, r := range b.ranges {
		n := r.To - r.From
		run(c, dst[:n], r.From)
		dst = dst[n:]
	}
}
