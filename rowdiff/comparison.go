package rowdiff

import "hdqs/index"

type comparison struct {
	t      *Tables
	emit   func(Change) error
	totals Totals
	shared []*column // of the order: those in which rows of two matching blocks may be compared

	lists      [sides]list
	blocks     [sides]blocks
	windows    [sides]window
	noted      map[uint64]bool // hashes of keys
	candidates [sides][]candidate
	hashes     [windowRows]uint64

	// What is still to be emitted of either state, and the next block of it.
	removed []uint32
	current []partner
	next    [sides]int
}

func newComparison(t *Tables, old, current *index.Passing, emit func(Change) error) *comparison {
	c := &comparison{t: t, emit: emit, noted: map[uint64]bool{}}
	c.lists[before].start(old)
	c.lists[after].start(current)
	return c
}

// run divides the rows into blocks and goes through them in the order of the table.
func (c *comparison) run() error {
	c.divide()
	for {
		switch side, block := c.upcoming(); {
		case block:
			c.take(side)
		case side == before && len(c.removed) > 0:
			row := c.removed[0]
			c.removed = c.removed[1:]
			if err := c.send(Change{Kind: Removed, Old: row}); err != nil {
				return err
			}
		case side == after && len(c.current) > 0:
			p := c.current[0]
			c.current = c.current[1:]
			change := Change{Kind: Changed, Old: p.old, New: p.row}
			if p.old == noRow {
				change = Change{Kind: Added, New: p.row}
			}
			if err := c.send(change); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

func (c *comparison) send(change Change) error {
	c.totals[change.Kind]++
	return c.emit(change)
}

// divide finds the blocks. Rows of a state that are not sorted by the first column of the key are
// one block, and so are those of the other state then.
func (c *comparison) divide() {
	if len(c.t.all) == 0 { // one state has no table
		for side, seg := range c.t.segments {
			c.blocks[side].list = c.blocks[side].list[:0]
			if seg != nil {
				c.blocks[side].whole(seg.Rows())
			}
		}
		return
	}
	c.shared = c.t.order
	for side := range sides {
		if !c.blocks[side].find(&c.lists[side], &c.t.lead[side]) {
			for side, seg := range c.t.segments {
				c.blocks[side].whole(seg.Rows())
			}
			return
		}
	}
	if len(c.shared) > 0 {
		c.shared = c.shared[1:] // the first is that by which blocks are sorted, and may be numbered anew
	}
}

// upcoming returns the state whose next row sorts first, and whether it is still in a block: the
// rows of a block cannot sort before its first one.
func (c *comparison) upcoming() (side int, block bool) {
	var rows [sides]uint32
	var has, blocked [sides]bool
	if has[before] = len(c.removed) > 0; has[before] {
		rows[before] = c.removed[0]
	}
	if has[after] = len(c.current) > 0; has[after] {
		rows[after] = c.current[0].row
	}
	for side := range sides {
		if all := c.blocks[side].list; !has[side] && c.next[side] < len(all) {
			has[side], blocked[side], rows[side] = true, true, all[c.next[side]].from
		}
	}
	side = before
	if has[after] && (!has[before] || c.t.compareOrder(rows[before], rows[after], c.t.order) > 0) {
		side = after
	}
	return side, has[side] && blocked[side]
}

// take compares the next block of a state with the block of the other state that has the same rows,
// and has the differences emitted next. If that block is next in its state, too, it is done with.
func (c *comparison) take(side int) {
	other := before + after - side
	all := c.blocks[side].list
	var pair [sides]*block
	pair[side] = &all[c.next[side]]
	c.next[side]++
	at, ok := c.blocks[other].byLead[pair[side].lead]
	if ok && len(c.blocks[other].list) > 0 {
		pair[other] = &c.blocks[other].list[at]
	}
	f := c.match(pair[before], pair[after])
	both := ok && at == c.next[other] && c.isIdle(other)
	if both {
		c.next[other]++
	}
	if side == before || both {
		c.removed = f.removed
	}
	if side == after || both {
		c.current = f.current
	}
}

// isIdle reports whether nothing of a state's former blocks is left to emit.
func (c *comparison) isIdle(side int) bool {
	if side == before {
		return len(c.removed) == 0
	}
	return len(c.current) == 0
}

// compareOrder compares an old with a current row by columns of the order. If a state has no table
// there is nothing to compare.
func (t *Tables) compareOrder(old, current uint32, columns []*column) int {
	for _, col := range columns {
		if order := col.compare(old, current); order != 0 {
			return order
		}
	}
	return 0
}
