package rowdiff

import "hdqs/index"

// EqualRows are neighbouring rows of both states that are equal in key and values, one by one.
type EqualRows struct{ Old, New, Rows uint32 }

// Equal calls emit with equal rows of the rows that pass, ascending in the current state. It need
// not find all: rows that stand in another order in the two states are left out. It stops when emit
// returns false.
func (t *Tables) Equal(old, current *index.Passing, emit func(EqualRows) bool) {
	if len(t.all) == 0 { // one state has no table
		return
	}
	c := newComparison(t, old, current, nil)
	defer c.release()
	var last EqualRows
	more := true
	c.equal = func(e EqualRows) {
		if e.Old == last.Old+last.Rows && e.New == last.New+last.Rows {
			last.Rows += e.Rows
			return
		}
		if more && last.Rows > 0 {
			more = emit(last)
		}
		last = e
	}
	c.divide()
	for i := range c.blocks[after].list {
		current := &c.blocks[after].list[i]
		at, ok := c.blocks[before].byLead[current.lead]
		if !ok || at >= len(c.blocks[before].list) {
			continue
		}
		c.noted.reset()
		if c.sideBySide(&c.blocks[before].list[at], current); !more {
			return
		}
	}
	if more && last.Rows > 0 {
		emit(last)
	}
}

// noteEqual passes on the next n rows of two windows, which are equal.
func (c *comparison) noteEqual(a, b *window, n int) {
	for from := 0; from < n; {
		old, current := a.rows[a.at+from:a.at+n], b.rows[b.at+from:b.at+n]
		to := 1
		for to < len(old) && old[to] == old[0]+uint32(to) && current[to] == current[0]+uint32(to) {
			to++
		}
		c.equal(EqualRows{old[0], current[0], uint32(to)})
		from += to
	}
}
