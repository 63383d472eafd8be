package index

import (
	"math"
	"math/bits"
	"unsafe"
)

// stretches are where the stretches of a table end. They are found in one pass over the table, when
// the first query needs them.
type stretches struct {
	keys      rowKeys
	periods   []periodColumn
	last      []uint32 // the last row with each number of the first column; empty if not known
	ends      *set     // the last row of each stretch
	scattered *set     // the rows of series of several stretches
}

// stretches returns the stretches of the table.
func (s *series) stretches() *stretches {
	if t := s.made.Load(); t != nil {
		return t
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.made.Load()
	if t == nil {
		t = s.find()
		s.made.Store(t)
	}
	return t
}

// find finds the stretches.
func (s *series) find() *stretches {
	t := &stretches{keys: s.rules.rowKeys(s.columns), periods: periodColumnsOf(s.end, s.start)}
	t.last = make([]uint32, t.keys[0].end)
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

// findEnds returns the last rows of all stretches as a bitmap, and fills t.last.
func (t *stretches) findEnds(rows int) []uint64 {
	const piece = 4096
	// A row is the first of a stretch if it differs from the row before, which has place 0 in
	// numbers and moments, or is not newer.
	starts := make([]uint64, rows/64+1)
	numbers, moments, differs := make([]uint64, 1+piece), make([]moment, 1+piece), make([]uint64, piece)
	before := make([]uint64, len(t.keys))
	for from := 0; from < rows; from += piece {
		n := min(piece, rows-from)
		clear(differs)
		for i := range t.keys {
			numbers[0] = before[i]
			t.keys[i].read(numbers[1:1+n], uint32(from))
			before[i] = numbers[n]
			for r, d := range differs[:n] {
				differs[r] = d | (numbers[r] ^ numbers[r+1])
			}
			if i == 0 && len(t.last) > 0 {
				for r, number := range numbers[1 : 1+n] {
					t.last[number] = uint32(from + r)
				}
			}
		}
		moments[0] = moments[piece]
		t.moments(moments[1:1+n], uint32(from), numbers[1:1+n])
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
		series int
	}
	var block []stretch
	counts := []int{} // stretches of each series of the block
	series := map[rowKey]int{}
	from, reach := uint32(0), uint32(0)
	closeBlock := func() {
		for i := range block {
			if counts[block[i].series] > 1 {
				into.addRange(block[i].rows.From, block[i].rows.To)
			}
		}
		block, counts = block[:0], counts[:0]
		clearMap(&series)
	}
	codeSet(ends).each(func(end uint32) error {
		reach = max(reach, t.reach(end))
		if len(block) == 0 && reach == end {
			from = end + 1
			return nil
		}
		key := t.keys.of(end)
		number, has := series[key]
		if !has {
			number = len(counts)
			series[key] = number
			counts = append(counts, 0)
		}
		counts[number]++
		block = append(block, stretch{Range{from, end + 1}, number})
		from = end + 1
		if reach == end {
			closeBlock()
		}
		return nil
	})
	closeBlock()
}

// reach is the last row that can be of the same block as a row, so far as that row tells.
func (t *stretches) reach(row uint32) uint32 {
	if len(t.last) == 0 {
		return math.MaxUint32
	}
	return t.last[t.keys[0].at(row)]
}

// clearMap empties a map. Clearing one takes as long as its largest size ever asks for, so a large
// one is replaced.
func clearMap[V any](m *map[rowKey]V) {
	if len(*m) < 1000 {
		clear(*m)
	} else {
		*m = make(map[rowKey]V)
	}
}

// moments sets dst to the moments of the rows from, from+1, ... It uses codes, which is as long.
func (t *stretches) moments(dst []moment, from uint32, codes []uint64) {
	clear(dst)
	for i := range t.periods {
		p := &t.periods[i]
		p.codes.Unpack64(codes, from)
		for r, code := range codes {
			dst[r] |= p.of[code]
		}
	}
}

// momentOf is the moment of a row.
func momentOf(periods []periodColumn, row uint32) (m moment) {
	for i := range periods {
		m |= periods[i].of[periods[i].codes.At(row)]
	}
	return m
}

// size is the memory in bytes.
func (t *stretches) size() int {
	n := int(unsafe.Sizeof(*t)) + 4*cap(t.last) + t.ends.size() + t.scattered.size() + t.keys.size()
	for i := range t.periods {
		n += int(unsafe.Sizeof(t.periods[i])) + 8*cap(t.periods[i].of)
	}
	return n
}
