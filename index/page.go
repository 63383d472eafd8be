package index

import "math/bits"

// emitter cuts the page out of the rows that pass, which it receives in order.
type emitter struct {
	ranges []Range
	skip   uint64 // passing rows before the page still to come
	left   int    // rows the page still has room for
	rows   int
}

// finish sets the rows of p.
func (e *emitter) finish(p *Page) { p.Ranges, p.Rows = e.ranges, e.rows }

// add receives the rows from to to-1.
func (e *emitter) add(from, to uint32) {
	n := uint64(to - from)
	if e.skip >= n {
		e.skip -= n
		return
	}
	from += uint32(e.skip)
	e.skip = 0
	if uint64(to-from) > uint64(e.left) {
		to = from + uint32(e.left)
	}
	e.append(from, to)
}

// append adds a range to the page. The page must have room for it, and nothing may be left to skip.
func (e *emitter) append(from, to uint32) {
	if from >= to {
		return
	}
	e.left -= int(to - from)
	e.rows += int(to - from)
	if n := len(e.ranges); n > 0 && e.ranges[n-1].To == from {
		e.ranges[n-1].To = to
		return
	}
	e.ranges = append(e.ranges, Range{from, to})
}

// addRows receives the rows of a chunk that starts at base.
func (e *emitter) addRows(r *rowsOf, base uint32) {
	switch r.shape {
	case full:
		e.add(base, base+uint32(r.size))
	case runs:
		for i := 0; i+1 < len(r.pairs) && e.left > 0; i += 2 {
			from := base + uint32(r.pairs[i])
			e.add(from, from+uint32(r.pairs[i+1])+1)
		}
	case array:
		n := min(e.skip, uint64(len(r.values)))
		e.skip -= n
		values := r.values[n:]
		values = values[:min(len(values), e.left)]
		e.left -= len(values)
		e.rows += len(values)
		ranges := e.ranges // rather than append, which stores three fields for each row
		for _, v := range values {
			row := base + uint32(v)
			if n := len(ranges); n > 0 && ranges[n-1].To == row {
				ranges[n-1].To++
			} else {
				ranges = append(ranges, Range{row, row + 1})
			}
		}
		e.ranges = ranges
	case bitmap:
		e.addWords(r, base)
	}
}

// addWords receives the rows of a bitmap.
func (e *emitter) addWords(r *rowsOf, base uint32) {
	i := r.lo
	for ; i < r.hi; i++ {
		n := uint64(bits.OnesCount64(r.words[i]))
		if e.skip < n {
			break
		}
		e.skip -= n
	}
	for ; i < r.hi && e.left > 0; i++ {
		w, at := r.words[i], base+uint32(i)<<6
		for ; e.skip > 0; e.skip-- {
			w &= w - 1
		}
		for w != 0 && e.left > 0 {
			first := uint32(bits.TrailingZeros64(w))
			n := uint32(bits.TrailingZeros64(^(w >> first)))
			e.append(at+first, at+first+min(n, uint32(e.left)))
			// Adding its lowest one to the lowest run of ones clears the run by carrying.
			w &= w + w&-w
		}
	}
}

// addSet receives the rows of a set, of a table of that many rows, by way of r.
func (e *emitter) addSet(s *set, r *rowsOf, rows int) {
	for k := range s.chunks {
		c := &s.chunks[k]
		switch {
		case e.left == 0:
			return
		case e.skip >= uint64(c.rows):
			e.skip -= uint64(c.rows)
		default:
			r.load(s, c, chunkSize(rows, k))
			e.addRows(r, uint32(k)<<chunkBits)
		}
	}
}
