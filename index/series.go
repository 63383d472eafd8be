package index

import (
	"sync"
	"sync/atomic"
	"unsafe"
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
	rules   *keyRules
	rows    int
	columns []*column
	period  *period
	order   lazy[seriesOrder]
	found   lazy[stretches]
}

// lazy is something large that is found when the first query needs it.
type lazy[T any] struct {
	mu   sync.Mutex // held while it is found
	made atomic.Pointer[T]
}

func (l *lazy[T]) get(find func() *T) *T {
	if made := l.made.Load(); made != nil {
		return made
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	made := l.made.Load()
	if made == nil {
		made = find()
		l.made.Store(made)
	}
	return made
}

// newSeries returns the series of Options, nil if there are none.
func newSeries(x *Index, o *Options, rules *keyRules) (*series, error) {
	if len(o.Series) == 0 {
		return nil, nil
	}
	columns, err := x.keyColumnsOf(o.Series)
	if err != nil {
		return nil, err
	}
	return &series{rules: rules, rows: x.rows, columns: columns, period: x.period}, nil
}

// bytes is the memory in use.
func (s *series) bytes() int64 {
	if s == nil {
		return 0
	}
	n := int64(unsafe.Sizeof(*s))
	if o := s.order.made.Load(); o != nil {
		n += int64(unsafe.Sizeof(*o)) + 4*int64(cap(o.last)) + int64(o.keys.size())
	}
	if t := s.found.made.Load(); t != nil {
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
	n += 8 * int64(s.period.start.Len())
	for _, c := range s.columns {
		if c.col.Group != nil {
			n += 12 * int64(c.col.Len())
		} else if c.col.Coded() {
			n += 12 * int64(c.col.Cardinality()+1)
		}
	}
	return n
}
