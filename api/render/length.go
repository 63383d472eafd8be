package render

import (
	"sync/atomic"

	"hdqs/index"
)

// A body of many rows is sent in parts, so its length must be known before its first byte is sent.
// For that the texts of its rows are looked up, which takes about half of the time of rendering
// them. For neighbouring rows the length of each measuredRows rows is kept.
const measuredRows = 128

// Length returns the number of bytes that Append appends for ranges.
func (f *Form) Length(ranges []index.Range) int {
	b := f.newBatch()
	length, rows := len(f.head)+len(f.tail), uint32(0)
	for _, r := range ranges {
		rows += r.To - r.From
		for r.To-r.From >= measuredRows {
			number := (r.From + measuredRows - 1) / measuredRows
			if (number+1)*measuredRows > r.To {
				break
			}
			length += f.addLengths(b, r.From, number*measuredRows)
			length += f.endLengths(b)
			length += f.measuredAt(b, number)
			r.From = (number + 1) * measuredRows
		}
		length += f.addLengths(b, r.From, r.To)
	}
	length += f.endLengths(b)
	f.batches.Put(b)
	if rows > 0 {
		length -= f.cut
	}
	return length
}

// addLengths adds the rows from from to to-1 to b, and returns the length of those that have left
// it since it was full.
func (f *Form) addLengths(b *rowBatch, from, to uint32) (length int) {
	for from < to {
		if from = b.add(from, to); b.n == batch {
			length += f.endLengths(b)
		}
	}
	return length
}

// endLengths returns the length of the rows of b, and clears b.
func (f *Form) endLengths(b *rowBatch) (length int) {
	if b.n > 0 {
		length = f.lookUp(b)
		b.clear()
	}
	return length
}

// measuredAt returns the length of measured rows, from the cache or computed. Goroutines that
// compute it at the same time store the same value.
func (f *Form) measuredAt(b *rowBatch, number uint32) int {
	f.measured.Do(func() { f.lengths = make([]atomic.Uint32, f.rows/measuredRows) })
	if known := f.lengths[number].Load(); known > 0 {
		return int(known)
	}
	length := f.addLengths(b, number*measuredRows, (number+1)*measuredRows)
	f.lengths[number].Store(uint32(length))
	return length
}
