package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"hdqs/snapshot"
)

// Overlaps finds rows of one series whose periods have a moment in common. Rows of a series have
// the same values in all its columns. Two rows with the same period are not looked for: the period
// is what tells rows of a series apart.
type Overlaps struct {
	x          *Index
	series     []*snapshot.Column
	start, end *snapshot.Column

	// crossing are the periods of the table that have a moment in common with another one. Without
	// any, no rows can overlap, and nothing is searched.
	crossing map[Period]bool
}

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

// MaxCrossing is the most rows with a crossing period that First looks at.
const MaxCrossing = 1 << 20

// NewOverlaps prepares the search in the rows of a series. Start and end are the columns of times
// with the first and last moment of a row's period.
func (x *Index) NewOverlaps(series []string, start, end string) (*Overlaps, error) {
	o := &Overlaps{x: x}
	for _, name := range series {
		c := x.columns[name]
		if c == nil {
			return nil, filterf("a series has the column %q, which the table has not", name)
		}
		o.series = append(o.series, c.col)
	}
	for name, to := range map[string]**snapshot.Column{start: &o.start, end: &o.end} {
		c := x.columns[name]
		if c == nil || c.col.Kind != snapshot.Time {
			return nil, filterf("a period has the column %q, which is no column of times of the table", name)
		}
		*to = c.col
	}
	o.findCrossing()
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

// appendSeries appends what tells the series of a row from others.
func (o *Overlaps) appendSeries(dst []byte, row uint32) []byte {
	for _, c := range o.series {
		codes := c.Codes()
		if !c.Coded() {
			codes = c.Numbers().Packed
		}
		dst = binary.LittleEndian.AppendUint64(dst, codes.At(position(c, row)))
	}
	return dst
}

// Overlap is two rows of one series whose periods have a moment in common.
type Overlap struct{ A, B uint32 }

// ErrManyCrossing is the error for more passing rows with crossing periods than First looks at.
var ErrManyCrossing = errors.New("index: too many rows have periods that cross others")

// First finds two passing rows that overlap, nil if there are none. The error is ErrManyCrossing,
// or that of Passing.
func (o *Overlaps) First(q *Query) (*Overlap, error) {
	if len(o.crossing) == 0 {
		return nil, nil
	}
	passing, err := o.x.Passing(q)
	if err != nil {
		return nil, err
	}
	defer passing.Close()
	var chunk ChunkRows
	var ranges []Range
	found := overlapSearch{o: o, seen: map[string][]uint32{}}
	for k := range passing.Chunks() {
		if passing.Read(k, &chunk) == 0 {
			continue
		}
		ranges = chunk.Ranges(ranges[:0])
		for _, r := range ranges {
			for row := r.From; row < r.To; row++ {
				if pair, err := found.add(row); pair != nil || err != nil {
					return pair, err
				}
			}
		}
	}
	return nil, nil
}

// overlapSearch is the rows with crossing periods so far, by series.
type overlapSearch struct {
	o    *Overlaps
	seen map[string][]uint32
	rows int
	key  []byte
}

func (s *overlapSearch) add(row uint32) (*Overlap, error) {
	p := s.o.Period(row)
	if !s.o.crossing[p] {
		return nil, nil
	}
	if s.rows++; s.rows > MaxCrossing {
		return nil, ErrManyCrossing
	}
	s.key = s.o.appendSeries(s.key[:0], row)
	for _, earlier := range s.seen[string(s.key)] {
		if other := s.o.Period(earlier); other != p && p.meets(other) {
			return &Overlap{earlier, row}, nil
		}
	}
	s.seen[string(s.key)] = append(s.seen[string(s.key)], row)
	return nil, nil
}
