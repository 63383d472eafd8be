package index

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"hdqs/snapshot"
)

// series says which rows of a table are of one series, and which of two is newer. Rows of a series
// have the same values in all its columns; a null equals a null.
//
// Tables are mostly sorted by these columns first and by dates later, so the rows of a series are
// mostly together, the oldest first. A stretch is consecutive rows of one series, each newer than
// the one before. Whatever rows pass, the newest of a stretch is the last that passes. A series of
// one stretch needs nothing else. Of series of several stretches, the newest of each stretch are
// compared. This is exact for any order of rows and fast for the usual one.
type series struct {
	rules      *keyRules
	rows       int
	columns    []*column
	end, start *column

	mu   sync.Mutex // held while stretches are found
	made atomic.Pointer[stretches]
}

// periodColumn is the share of one or both columns of the period in the moments of rows.
type periodColumn struct {
	codes snapshot.Packed
	of    []moment // of each tuple or code
}

// moment orders the periods of rows: by end, where null is the last, then by start, where null is
// the first. The end is in its upper half, the start in the lower.
type moment uint64

// newSeries returns the series of Options, nil if there are none.
func (x *Index) newSeries(o *Options, rules *keyRules) (*series, error) {
	if len(o.Series) == 0 {
		return nil, nil
	}
	s := &series{rules: rules, rows: x.rows}
	var err error
	if s.columns, err = x.keyColumnsOf(o.Series); err != nil {
		return nil, err
	}
	for _, name := range []string{o.PeriodEnd, o.PeriodStart} {
		if c := x.columns[name]; c == nil || c.col.Kind != snapshot.Time {
			return nil, filterf("the period of a series has the column %q: the table has none of that name "+
				"with times", name)
		}
	}
	s.end, s.start = x.columns[o.PeriodEnd], x.columns[o.PeriodStart]
	return s, nil
}

// periodColumnsOf returns what gives the moments of rows: one column if end and start are of one
// group, otherwise two.
func periodColumnsOf(ends, starts *column) []periodColumn {
	end := periodColumnOf(ends.col, func(code, _ uint64) moment { return moment(code << 32) })
	start := periodColumnOf(starts.col, func(code, null uint64) moment { return moment((code + 1) % (null + 1)) })
	if g := ends.col.Group; g == nil || g != starts.col.Group {
		return []periodColumn{end, start}
	}
	for i, m := range start.of {
		end.of[i] |= m
	}
	return []periodColumn{end}
}

// periodColumnOf gives each code of a column of times a moment. Codes order like times, and null
// has the last.
func periodColumnOf(col *snapshot.Column, momentOf func(code, null uint64) moment) periodColumn {
	null := uint64(col.Cardinality())
	if g := col.Group; g != nil {
		p := periodColumn{codes: g.Codes, of: make([]moment, g.Tuples)}
		for tuple := range p.of {
			p.of[tuple] = momentOf(col.Codes().At(uint32(tuple)), null)
		}
		return p
	}
	p := periodColumn{codes: col.Codes(), of: make([]moment, null+1)}
	for code := range p.of {
		p.of[code] = momentOf(uint64(code), null)
	}
	return p
}

// bytes is the memory in use.
func (s *series) bytes() int64 {
	if s == nil {
		return 0
	}
	n := int64(unsafe.Sizeof(*s))
	if t := s.made.Load(); t != nil {
		n += int64(t.size())
	}
	return n
}

// fullBytes estimates bytes once the stretches have been found.
func (s *series) fullBytes() int64 {
	if s == nil {
		return 0
	}
	// The ends of stretches are a bit a row at most, and the scattered rows another.
	n := int64(unsafe.Sizeof(*s)) + 1024 + int64(s.rows)/4 + 2*int64(chunkCount(s.rows))*int64(unsafe.Sizeof(chunk{}))
	for _, c := range append([]*column{s.end, s.start}, s.columns...) {
		if c.col.Group != nil {
			n += 12 * int64(c.col.Len())
		} else if c.col.Coded() {
			n += 12 * int64(c.col.Cardinality()+1)
		}
	}
	return n
}
