package render

import (
	"math"
	"math/bits"
	"sync/atomic"

	"hdqs/index"
	"hdqs/internal/cache"
	"hdqs/snapshot"
)

// A body of many rows is sent in parts, so its length must be known before its first byte is sent.
// Adding up the lengths of the texts costs a third of rendering. So lengths are kept once they are
// known. For neighbouring rows that is the length of each measuredRows rows. For scattered ones it
// is the length of each row, in two bytes, for groups of measuredRows rows of which one was
// requested. Lengths of rows count towards the limit of stored blocks; near it, no more are kept.
const measuredRows = 128

type measuredLength = atomic.Uint32

// rowLengths are the lengths of measuredRows rows, two in each number, the first in its lower half.
// A length that is 0 is not known, or too long.
type rowLengths struct {
	cache.Mark
	in      *atomic.Pointer[rowLengths] // the place where they are found
	lengths [measuredRows / 2]atomic.Uint32
}

// Size is their memory, with that of the places where they are found.
func (*rowLengths) Size() int64 { return measuredRows*2 + 48 }

// Drop takes them out of their form.
func (l *rowLengths) Drop() { l.in.CompareAndSwap(l, nil) }

// at returns the length of a row, by its position among the rows.
func (l *rowLengths) at(i uint32) uint32 {
	return l.lengths[i/2%(measuredRows/2)].Load() >> (i % 2 * 16) & math.MaxUint16
}

// set sets the length of a row. Goroutines that do so at the same time set the same.
func (l *rowLengths) set(i, length uint32) {
	if length <= math.MaxUint16 {
		l.lengths[i/2%(measuredRows/2)].Or(length << (i % 2 * 16))
	}
}

// open makes room for lengths.
func (f *Form) open() {
	f.measured.Do(func() {
		f.lengths = make([]measuredLength, f.rows/measuredRows)
		f.rowLengths = make([]atomic.Pointer[rowLengths], (f.rows+measuredRows-1)/measuredRows)
	})
}

// keptLengths returns the lengths near a row; nil if there is no memory for them.
func (f *Form) keptLengths(row uint32) *rowLengths {
	in := &f.rowLengths[row/measuredRows]
	known := in.Load()
	if known != nil || f.cache.IsNearlyFull() {
		return known
	}
	known = &rowLengths{in: in}
	if !in.CompareAndSwap(nil, known) {
		return in.Load()
	}
	f.cache.Add(known)
	return known
}

// Length returns the number of bytes that Append appends for ranges.
func (f *Form) Length(ranges []index.Range) int {
	f.open()
	b := f.newBatch()
	length, rows := 0, uint32(0)
	for _, r := range ranges {
		rows += r.To - r.From
		for r.To-r.From >= measuredRows {
			number := (r.From + measuredRows - 1) / measuredRows
			start, end := number*measuredRows, (number+1)*measuredRows
			if end > r.To {
				break
			}
			length += f.addLengths(b, r.From, start)
			if b.Len() > 0 {
				length += f.measureEach(b)
			}
			length += f.measuredAt(b, number)
			r.From = end
		}
		length += f.addLengths(b, r.From, r.To)
	}
	if b.Len() > 0 {
		length += f.measureEach(b)
	}
	f.batches.Put(b)
	length += len(f.head) + len(f.tail)
	if rows > 0 {
		length -= f.cut
	}
	return length
}

// addLengths returns the known lengths of the rows from to to-1, and adds the other rows to b. When
// b is full, their lengths are part of the result.
func (f *Form) addLengths(b *rowBatch, from, to uint32) (length int) {
	for from < to {
		known := f.rowLengths[from/measuredRows].Load()
		if known != nil {
			known.Use()
		}
		for end := min(to, from-from%measuredRows+measuredRows); from < end; from++ {
			if known != nil {
				if n := known.at(from % measuredRows); n > 0 {
					length += int(n)
					continue
				}
			}
			if b.Add(from, from+1, batch); b.Len() == batch {
				length += f.measureEach(b)
			}
		}
	}
	return length
}

// measuredAt returns the length of measured rows, from the cache or computed. Goroutines that
// compute it at the same time store the same value.
func (f *Form) measuredAt(b *rowBatch, number uint32) int {
	if known := f.lengths[number].Load(); known > 0 {
		return int(known)
	}
	length := 0
	for from, to := number*measuredRows, (number+1)*measuredRows; from < to; {
		from = b.Add(from, to, batch)
		length += sum(f.measure(b))
		b.Clear()
	}
	f.lengths[number].Store(uint32(length))
	return length
}

// measureEach returns the length of the rows of b, keeps that of each if it can, and clears b.
func (f *Form) measureEach(b *rowBatch) int {
	lengths := f.measure(b)
	for k, row := range b.IDs() {
		if kept := f.keptLengths(row); kept != nil {
			kept.set(row%measuredRows, lengths[k])
		}
	}
	b.Clear()
	return sum(lengths)
}

func sum(lengths []uint32) (n int) {
	for _, length := range lengths {
		n += int(length)
	}
	return n
}

// measure returns the length of each row of b, in memory of b.
func (f *Form) measure(b *rowBatch) []uint32 {
	lengths, same := b.lengths[:b.Len()], uint32(0)
	clear(lengths)
	for i := range f.pieces {
		p, l := &f.pieces[i], &b.lanes[i]
		switch {
		case p.part != nil:
			p.fragments.measurePart(lengths, b.unpack(l.codes, p.factors), p.part)
		case p.fragments != nil:
			p.fragments.measure(lengths, b.unpack(l.codes, p.factors))
		case p.number:
			same += uint32(RowKeyDigits + len(p.after))
		case !p.point && p.column.Kind == snapshot.Int:
			b.measureInts(lengths, p, uint32(len(f.null)))
			same += uint32(len(p.after))
		case !p.point && p.column.Kind == snapshot.Decimal:
			b.measureDecs(lengths, p, uint32(len(f.null)))
			same += uint32(len(p.after))
		default:
			b.writeOther(p, l, f.null)
			for k := range lengths {
				lengths[k] += uint32(len(l.texts[k]))
			}
		}
	}
	for k := range lengths {
		lengths[k] += same
	}
	return lengths
}

// measure adds the length of the text of each code to lengths.
func (f *fragments) measure(lengths, codes []uint32) {
	length, last := uint32(0), ^codes[0]
	for k, code := range codes {
		if code != last {
			last = code
			c := f.chunks[code>>chunkBits].Load()
			if c == nil {
				c = f.fill(code >> chunkBits)
			}
			i := code & (chunkSize - 1)
			length = c.starts[i+1] - c.starts[i]
		}
		lengths[k] += length
	}
}

func (b *rowBatch) measureInts(lengths []uint32, p *piece, null uint32) {
	for k, v := range b.Ints(p.column) {
		switch {
		case v == snapshot.NullInt:
			lengths[k] += null
		case v < 0:
			lengths[k] += 1 + uint32(digitCount(-uint64(v)))
		default:
			lengths[k] += uint32(digitCount(uint64(v)))
		}
	}
}

func (b *rowBatch) measureDecs(lengths []uint32, p *piece, null uint32) {
	var digits [cellSize]byte
	decs := b.Decs(p.column)
	for k := range decs {
		d := &decs[k]
		form := &decForms[d.Scale]
		sign := d.Mantissa >> 63
		u := uint64((d.Mantissa ^ sign) - sign)
		switch {
		case u-form.least < form.span:
			lengths[k] += uint32(max(digitCount(u*form.times), int(form.point)+1) + len(".") - int(sign))
		case d.Scale == snapshot.DecNull:
			lengths[k] += null
		case d.Scale == snapshot.DecText:
			lengths[k] += uint32(len(p.exact.at(uint32(d.Mantissa))))
		default:
			lengths[k] += uint32(cellSize - putDec(&digits, d.Mantissa, d.Scale))
		}
	}
}

func digitCount(u uint64) int {
	u |= 1 // 0 has one digit; other numbers keep theirs
	// 1233/4096 is slightly more than log10(2), so n is the number of digits or one less.
	n := bits.Len64(u) * 1233 >> 12
	if u >= powersOfTen[n] {
		n++
	}
	return n
}
