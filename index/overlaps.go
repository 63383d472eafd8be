package index

import (
	"cmp"
	"errors"
	"iter"
	"math"
	"math/bits"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"hdqs/snapshot"
)

// Overlaps finds rows of one series whose periods have a moment in common. Rows of a series have
// the same values in all its columns. Two rows with the same period are not looked for: the period
// is what tells rows of a series apart.
type Overlaps struct {
	x          *Index
	first      *snapshot.Column // of the columns of a series
	series     rowKeys
	start, end *snapshot.Column

	// crossing are the periods of the table that have a moment in common with another one. Without
	// any, no rows can overlap, and nothing is searched.
	crossing      map[Period]bool
	crossingTuple []bool // by tuple, if one group has both columns

	once  sync.Once
	found []uint32 // see rows
	bytes atomic.Int64

	nestedOnce sync.Once
	keys       []rowKeys // by level but the last: of a place and its fields
	mixed      []uint32  // rows of places of level 0 with rows of several levels
}

// Bytes is the memory of what was found so far.
func (o *Overlaps) Bytes() int64 { return o.bytes.Load() }

// Period is a time span in microseconds since 1970, both ends included. An open end is the most
// there is, an open start the least.
type Period struct{ From, To int64 }

// String is the days of the period: 2024-01-01 to 2024-12-31.
func (p Period) String() string {
	from, to := "the beginning", "now"
	if p.From != math.MinInt64 {
		from = time.UnixMicro(p.From).UTC().Format(time.DateOnly)
	}
	if p.To != math.MaxInt64 {
		to = time.UnixMicro(p.To).UTC().Format(time.DateOnly)
	}
	return from + " to " + to
}

// meets reports whether two periods have a moment in common.
func (p Period) meets(other Period) bool { return p.From <= other.To && other.From <= p.To }

// MaxOverlaps is the most passing rows that overlap others that First looks at.
const MaxOverlaps = 1 << 18

// crossingBytes is about what a period in a map takes.
const crossingBytes = 40

// NewOverlaps prepares the search in the rows of a series. Start and end are the columns of times
// with the first and last moment of a row's period.
func (x *Index) NewOverlaps(series []string, start, end string) (*Overlaps, error) {
	columns, err := x.keyColumnsOf(series)
	if err != nil {
		return nil, err
	}
	o := &Overlaps{x: x, first: columns[0].col, series: x.seriesRules.rowKeys(columns)}
	for name, to := range map[string]**snapshot.Column{start: &o.start, end: &o.end} {
		c := x.columns[name]
		if c == nil || c.col.Kind != snapshot.Time {
			return nil, filterf("a period has the column %q, which is no column of times of the table", name)
		}
		*to = c.col
	}
	o.findCrossing()
	o.bytes.Store(crossingBytes*int64(len(o.crossing)) + int64(len(o.crossingTuple)))
	return o, nil
}

// findCrossing fills crossing. In the order of their starts, a period meets one before it if it
// meets the one of those that ends last.
func (o *Overlaps) findCrossing() {
	distinct := map[Period]bool{}
	if g := o.start.Group; g != nil && g == o.end.Group {
		for tuple := range uint32(g.Tuples) {
			distinct[periodAt(o.start, o.end, tuple, tuple)] = true
		}
	} else {
		for row := range uint32(o.x.rows) {
			distinct[o.Period(row)] = true
		}
	}
	all := make([]Period, 0, len(distinct))
	for p := range distinct {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Period) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	o.crossing = map[Period]bool{}
	for i, longest := 1, 0; i < len(all); i++ {
		if all[i].meets(all[longest]) {
			o.crossing[all[i]], o.crossing[all[longest]] = true, true
		}
		if all[i].To > all[longest].To {
			longest = i
		}
	}
	if g := o.start.Group; g != nil && g == o.end.Group {
		o.crossingTuple = make([]bool, g.Tuples)
		for tuple := range o.crossingTuple {
			o.crossingTuple[tuple] = o.crossing[periodAt(o.start, o.end, uint32(tuple), uint32(tuple))]
		}
	}
}

// Period is the period of a row.
func (o *Overlaps) Period(row uint32) Period {
	return periodAt(o.start, o.end, position(o.start, row), position(o.end, row))
}

func periodAt(start, end *snapshot.Column, from, to uint32) Period {
	p := Period{math.MinInt64, math.MaxInt64}
	if !start.IsNull(from) {
		p.From = start.Int(from)
	}
	if !end.IsNull(to) {
		p.To = end.Int(to)
	}
	return p
}

// position is where a column has the value of a row.
func position(c *snapshot.Column, row uint32) uint32 {
	if c.Group != nil {
		return uint32(c.Group.Codes.At(row))
	}
	return row
}

// rows are the rows of the table that overlap another one, or have the same period as another one
// of their series, in ascending order. They are found at the first call.
func (o *Overlaps) rows() []uint32 {
	o.once.Do(func() {
		o.found = o.findRows()
		o.bytes.Add(4 * int64(cap(o.found)))
	})
	return o.found
}

// seriesRow is a row with the key of its series, and its period.
type seriesRow struct {
	key    rowKey
	row    uint32
	period Period
}

// findRows compares the rows of one series. Tables are sorted by the first column of their series,
// so that is done for one value of it after the other, and takes memory for one of them only.
func (o *Overlaps) findRows() []uint32 {
	f := overlapFinder{o: o, meet: make([]uint64, o.x.rows/64+1)}
	for _, block := range o.blocks() {
		f.compare(block)
	}
	var rows []uint32
	for i, word := range f.meet {
		for ; word != 0; word &= word - 1 {
			rows = append(rows, uint32(i*64+bits.TrailingZeros64(word)))
		}
	}
	return rows
}

// blocks cuts the table into ranges such that the rows of a series are in one of them: those with
// one value of its first column, or the whole table if it is not sorted by that.
func (o *Overlaps) blocks() []Range {
	rows := uint32(o.x.rows)
	whole := []Range{{0, rows}}
	c := o.first
	if !c.Coded() {
		return whole
	}
	seen := map[uint64]bool{}
	var blocks []Range
	last := uint64(0)
	for row := range rows {
		code := c.Codes().At(position(c, row))
		if len(blocks) > 0 && code == last {
			blocks[len(blocks)-1].To++
			continue
		}
		if seen[code] {
			return whole
		}
		seen[code], last = true, code
		blocks = append(blocks, Range{row, row + 1})
	}
	return blocks
}

// overlapFinder collects the rows that overlap others.
type overlapFinder struct {
	o    *Overlaps
	all  []seriesRow
	meet []uint64 // one bit a row
}

// compare compares the rows of a range. In the order of their starts, a period meets one before it
// if it meets the one of those that ends last.
func (f *overlapFinder) compare(r Range) {
	o := f.o
	f.all = f.all[:0]
	for row := r.From; row < r.To; row++ {
		if o.crosses(row) {
			f.all = append(f.all, seriesRow{o.series.of(row), row, o.Period(row)})
		}
	}
	slices.SortFunc(f.all, func(a, b seriesRow) int {
		return cmp.Or(slices.Compare(a.key[:], b.key[:]), cmp.Compare(a.period.From, b.period.From))
	})
	for i, longest := 1, 0; i < len(f.all); i++ {
		at, before := &f.all[i], &f.all[longest]
		if at.key != before.key {
			longest = i
			continue
		}
		if at.period.meets(before.period) {
			f.meet[at.row/64] |= 1 << (at.row % 64)
			f.meet[before.row/64] |= 1 << (before.row % 64)
		}
		if at.period.To > before.period.To {
			longest = i
		}
	}
}

// crosses reports whether the period of a row meets another period of the table.
func (o *Overlaps) crosses(row uint32) bool {
	if o.crossingTuple != nil {
		return o.crossingTuple[o.start.Group.Codes.At(row)]
	}
	return o.crossing[o.Period(row)]
}

// Overlap is two rows of one series whose periods have a moment in common.
type Overlap struct{ A, B uint32 }

// ErrManyOverlaps is the error for more passing rows that overlap others of the table than First
// looks at.
var ErrManyOverlaps = errors.New("index: too many rows have periods that overlap those of others")

// First finds two passing rows that overlap, nil if there are none. The error is ErrManyOverlaps,
// or that of Passing.
func (o *Overlaps) First(q *Query) (*Overlap, error) {
	if len(o.crossing) == 0 || len(o.rows()) == 0 {
		return nil, nil
	}
	passing, err := o.x.Passing(q)
	if err != nil {
		return nil, err
	}
	defer passing.Close()
	search := overlapSearch{o: o, seen: map[rowKey][]uint32{}}
	for row := range passing.among(o.rows()) {
		if pair, err := search.add(row); pair != nil || err != nil {
			return pair, err
		}
	}
	return nil, nil
}

// among yields those of some rows, in ascending order, that pass.
func (p *Passing) among(rows []uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		var chunk ChunkRows
		for len(rows) > 0 {
			k := int(rows[0] >> chunkBits)
			n := sort.Search(len(rows), func(i int) bool { return int(rows[i]>>chunkBits) > k })
			if p.Read(k, &chunk) > 0 {
				words := chunk.Words()
				for _, row := range rows[:n] {
					at := row - chunk.Base()
					if words[at>>6]>>(at&63)&1 != 0 && !yield(row) {
						return
					}
				}
			}
			rows = rows[n:]
		}
	}
}

// overlapSearch is the passing rows that overlap others of the table, by series.
type overlapSearch struct {
	o    *Overlaps
	seen map[rowKey][]uint32
	rows int
}

func (s *overlapSearch) add(row uint32) (*Overlap, error) {
	if s.rows++; s.rows > MaxOverlaps {
		return nil, ErrManyOverlaps
	}
	p := s.o.Period(row)
	key := s.o.series.of(row)
	for _, earlier := range s.seen[key] {
		if other := s.o.Period(earlier); other != p && p.meets(other) {
			return &Overlap{earlier, row}, nil
		}
	}
	s.seen[key] = append(s.seen[key], row)
	return nil, nil
}
