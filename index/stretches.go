package index

import (
	"math"
	"math/bits"
	"unsafe"
)

// stretches are where the stretches of a table end. They are found in one pass over the table, when
// the first query needs them.
type stretches struct {
	order     *seriesOrder
	period    *period
	moments   []moment // by tuple of periods
	ends      *set     // the last row of each stretch
	scattered *set     // the rows of series of several stretches
}

// seriesOrder is how the rows are told apart, and where each value of the first column ends.
type seriesOrder struct {
	keys rowKeys
	last []uint32 // the last row with each number of the first column; empty if not known
}

// inOrder returns the order of the table.
func (s *series) inOrder() *seriesOrder {
	return s.order.get(func() *seriesOrder {
		o := &seriesOrder{keys: s.rules.rowKeys(s.columns)}
		first := &o.keys[0]
		if o.last = make([]uint32, first.end); len(o.last) == 0 {
			return o
		}
		var numbers [blockRows]uint64
		for from := 0; from < s.rows; from += blockRows {
			n := min(blockRows, s.rows-from)
			first.read(numbers[:n], uint32(from))
			for i, number := range numbers[:n] {
				o.last[number] = uint32(from + i)
			}
		}
		return o
	})
}

// stretches returns the stretches of the table.
func (s *series) stretches() *stretches { return s.found.get(s.find) }

// find finds the stretches.
func (s *series) find() *stretches {
	t := &stretches{order: s.inOrder(), period: s.period, moments: s.period.moments()}
	ends := t.findEnds(s.rows)
	var b builder
	b.reset(s.rows)
	for k := range b.bitmaps {
		copy(b.bitmap(k)[:], ends[k*chunkWords:min(len(ends), (k+1)*chunkWords)])
	}
	t.ends = b.build()
	b.reset(s.rows)
	t.findScattered(ends, &b)
	t.scattered = b.build()
	return t
}

// findEnds returns the last rows of all stretches as a bitmap.
func (t *stretches) findEnds(rows int) []uint64 {
	const piece = 4096
	// A row is the first of a stretch if it differs from the row before, which has place 0 in
	// numbers and moments, or is not newer.
	starts := make([]uint64, rows/64+1)
	numbers, moments, differs := make([]uint64, 1+piece), make([]moment, 1+piece), make([]uint64, piece)
	keys := t.order.keys
	before := make([]uint64, len(keys))
	for from := 0; from < rows; from += piece {
		n := min(piece, rows-from)
		clear(differs)
		for i := range keys {
			numbers[0] = before[i]
			keys[i].read(numbers[1:1+n], uint32(from))
			before[i] = numbers[n]
			for r, d := range differs[:n] {
				differs[r] = d | (numbers[r] ^ numbers[r+1])
			}
		}
		moments[0] = moments[piece]
		if g := t.period.group; g == nil {
			copy(moments[1:1+n], t.moments[from:])
		} else {
			g.Codes.Unpack64(numbers[1:1+n], uint32(from))
			for r, tuple := range numbers[1 : 1+n] {
				moments[1+r] = t.moments[tuple]
			}
		}
		for r, d := range differs[:n] {
			_, newer := bits.Sub64(uint64(moments[r]), uint64(moments[r+1]), 0)
			_, same := bits.Sub64(d, 1, 0)
			row := from + r
			starts[row>>6] |= (1 - newer&same) << (row & 63)
		}
	}
	// A row is the last of a stretch if the next is the first of one; there is one after all rows.
	starts[rows>>6] |= 1 << (rows & 63)
	for i := range starts {
		starts[i] >>= 1
		if i+1 < len(starts) {
			starts[i] |= starts[i+1] << 63
		}
	}
	return starts[:(rows+63)/64]
}

// findScattered adds the rows of all series of several stretches. It goes by blocks: parts of the
// table that share no number of the first column with other parts, and so no series.
func (t *stretches) findScattered(ends []uint64, into *builder) {
	type stretch struct {
		rows   Range
		series uint32
	}
	var block []stretch
	var all numbering
	var counts []int // stretches of each series of the block
	from, reach := uint32(0), uint32(0)
	closeBlock := func() {
		for _, one := range block {
			if counts[one.series] > 1 {
				into.addRange(one.rows.From, one.rows.To)
			}
		}
		block, counts = block[:0], counts[:0]
		all.clear()
	}
	for end := range codeSet(ends).all() {
		reach = max(reach, t.order.reach(end))
		if len(block) > 0 || reach != end {
			one := stretch{Range{from, end + 1}, all.add(t.order.keys.of(end))}
			if int(one.series) == len(counts) {
				counts = append(counts, 0)
			}
			counts[one.series]++
			block = append(block, one)
		}
		if from = end + 1; reach == end && len(block) > 0 {
			closeBlock()
		}
	}
	closeBlock()
}

// reach returns the last row that has the value of a row in the first column of the series.
func (o *seriesOrder) reach(row uint32) uint32 {
	if len(o.last) == 0 {
		return math.MaxUint32
	}
	return o.last[o.keys[0].at(row)]
}

// moment is the moment of a row.
func (t *stretches) moment(row uint32) moment { return t.moments[t.period.tuple(row)] }

// size is the memory in bytes.
func (t *stretches) size() int {
	return int(unsafe.Sizeof(*t)) + 8*cap(t.moments) + t.ends.size() + t.scattered.size()
}
