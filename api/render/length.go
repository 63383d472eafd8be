package render

import (
	"math/bits"
	"sync/atomic"

	"hdqs/index"
	"hdqs/snapshot"
)

// A body of many rows is sent in parts, so its length must be known before its first byte is sent.
// Adding up the lengths of the texts costs a third of rendering. For neighbouring rows most of it
// is cached: lengths holds the length of each measuredRows rows.
const measuredRows = 128

type measuredLength = atomic.Uint32

// rowLengths are the lengths of measuredRows rows.
type rowLengths [measuredRows]uint32

// SpanLength returns the number of bytes that AppendRows appends for the rows from to to-1. It
// keeps the length of each row that it has met, in four bytes, and then takes next to no time.
func (f *Form) SpanLength(from, to uint32) (length int) {
	f.spans.Do(func() { f.rowLengths = make([]atomic.Pointer[rowLengths], (f.rows+measuredRows-1)/measuredRows) })
	for from < to {
		end := min(to, from-from%measuredRows+measuredRows)
		lengths := f.rowLengths[from/measuredRows].Load()
		if lengths == nil {
			lengths = f.measureRows(from / measuredRows)
		}
		for _, n := range lengths[from%measuredRows : from%measuredRows+end-from] {
			length += int(n)
		}
		from = end
	}
	return length
}

// measureRows measures measuredRows rows one by one.
func (f *Form) measureRows(number uint32) *rowLengths {
	lengths := new(rowLengths)
	b := f.newBatch()
	first := number * measuredRows
	last := min(first+measuredRows, uint32(f.rows))
	for from := first; from < last; {
		into := lengths[from-first:]
		from = b.add(from, last)
		f.lookUp(b)
		b.join()
		for k := range b.n {
			for i := range b.joined {
				if l := &b.joined[i]; l.same != nil {
					into[k] += uint32(len(l.same))
				} else {
					into[k] += uint32(len(l.texts[k]))
				}
			}
		}
		b.clear()
	}
	f.batches.Put(b)
	f.rowLengths[number].Store(lengths)
	return lengths
}

// Length returns the number of bytes that Append appends for ranges.
func (f *Form) Length(ranges []index.Range) int {
	f.measured.Do(func() { f.lengths = make([]measuredLength, f.rows/measuredRows) })
	b := f.newBatch()
	length, rows := 0, 0
	for _, r := range ranges {
		rows += int(r.To - r.From)
		for from := r.From; from < r.To; {
			next := (from + measuredRows - 1) / measuredRows * measuredRows // start of the next measured rows, if any
			if next+measuredRows > r.To {
				next = r.To
			}
			if from == next {
				if b.n > 0 {
					length += f.measure(b)
				}
				length += f.measuredAt(b, from/measuredRows)
				from += measuredRows
			} else if from = b.add(from, next); b.n == batch {
				length += f.measure(b)
			}
		}
	}
	if b.n > 0 {
		length += f.measure(b)
	}
	f.batches.Put(b)
	length += len(f.head) + len(f.tail)
	if rows > 0 {
		length -= f.cut
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
		from = b.add(from, to)
		length += f.measure(b)
	}
	f.lengths[number].Store(uint32(length))
	return length
}

// measure returns the length of the rows of b, and clears b.
func (f *Form) measure(b *rowBatch) int {
	size := 0
	for i := range f.pieces {
		p, l := &f.pieces[i], &b.lanes[i]
		switch {
		case p.part != nil:
			size += p.fragments.measurePart(b.unpack(l.codes, p.factors), p.part)
		case p.fragments != nil:
			size += p.fragments.measure(b.unpack(l.codes, p.factors))
		case p.point:
			size += b.writeOther(p, l, f.null)
		case p.column.Kind == snapshot.Int:
			size += b.measureInts(p, len(f.null)) + b.n*len(p.after)
		case p.column.Kind == snapshot.Decimal:
			size += b.measureDecs(p, len(f.null)) + b.n*len(p.after)
		default:
			size += b.writeOther(p, l, f.null)
		}
	}
	b.clear()
	return size
}

// measure returns the total length of the texts of codes.
func (f *fragments) measure(codes []uint32) int {
	size, length := 0, 0
	last := ^codes[0]
	for _, code := range codes {
		if code != last {
			last = code
			c := f.chunks[code>>chunkBits].Load()
			if c == nil {
				c = f.fill(code >> chunkBits)
			}
			i := code & (chunkSize - 1)
			length = int(c.starts[i+1] - c.starts[i])
		}
		size += length
	}
	return size
}

func (b *rowBatch) measureInts(p *piece, null int) int {
	size := 0
	for _, v := range b.unpackInts(p) {
		switch {
		case v == snapshot.NullInt:
			size += null
		case v < 0:
			size += 1 + digitCount(-uint64(v))
		default:
			size += digitCount(uint64(v))
		}
	}
	return size
}

func (b *rowBatch) measureDecs(p *piece, null int) int {
	size := 0
	var digits [cellSize]byte
	decs := b.unpackDecs(p)
	for i := range decs {
		d := &decs[i]
		form := &decForms[d.Scale]
		sign := d.Mantissa >> 63
		u := uint64((d.Mantissa ^ sign) - sign)
		switch {
		case u-form.least < form.span:
			size += max(digitCount(u*form.times), int(form.point)+1) + len(".") - int(sign)
		case d.Scale == snapshot.DecNull:
			size += null
		case d.Scale == snapshot.DecText:
			size += len(p.exact.at(uint32(d.Mantissa)))
		default:
			size += cellSize - putDec(&digits, d.Mantissa, d.Scale)
		}
	}
	return size
}

// digitCount returns the number of decimal digits of u.
func digitCount(u uint64) int {
	u |= 1 // 0 has one digit; other numbers keep theirs
	// 1233/4096 is slightly more than log10(2), so n is the number of digits or one less.
	n := bits.Len64(u) * 1233 >> 12
	if u >= powersOfTen[n] {
		n++
	}
	return n
}
