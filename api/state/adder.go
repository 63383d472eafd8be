package state

import (
	"sync"
	"sync/atomic"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/index"
)

// Adder is what a list needs for aggregates, made at the first request for one.
type Adder struct {
	once     sync.Once
	made     atomic.Bool // the fields below can be read
	Table    *aggregate.Table
	Overlaps *index.Overlaps // rows that count the same; nil for lists without periods
	err      error
}

// Bytes is the memory of what was made of the list's table so far.
func (a *Adder) Bytes() int64 {
	if a == nil || !a.made.Load() || a.err != nil {
		return 0
	}
	n := a.Table.Bytes()
	if a.Overlaps != nil {
		n += a.Overlaps.Bytes()
	}
	return n
}

// Adder returns the list's adder.
func (l *BoundList) Adder(e *contract.Endpoint) (*Adder, error) {
	a := l.Adds.Load()
	if a == nil {
		l.Adds.CompareAndSwap(nil, new(Adder))
		a = l.Adds.Load()
	}
	if a == nil { // released just now by a swap
		a = new(Adder)
	}
	a.once.Do(func() {
		defer a.made.Store(true)
		var o aggregate.Options
		if e.HasPeriod() {
			o = aggregate.Options{PeriodStart: contract.PeriodStart, PeriodEnd: contract.PeriodEnd}
		}
		if a.Table, a.err = aggregate.Open(l.Index, l.Segment, o); a.err == nil && e.Series() != nil {
			a.Overlaps, a.err = l.Index.NewOverlaps()
		}
	})
	return a, a.err
}
