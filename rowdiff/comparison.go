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
	pending found
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
		side, block := c.upcoming()
		if block {
			c.take(side)
			continue
		}
		if len(c.pending[side]) == 0 {
			return nil
		}
		p := c.pending[side][0]
		c.pending[side] = c.pending[side][1:]
		change := Change{Kind: Changed, Old: p.old, New: p.row}
		switch {
		case side == before:
			change = Change{Kind: Removed, Old: p.row}
		case p.old == noRow:
			change = Change{Kind: Added, New: p.row}
		}
		c.totals[change.Kind]++
		if err := c.emit(change); err != nil {
			return err
		}
	}
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
	for side, pending := range c.pending {
		if all := c.blocks[side].list; len(pending) > 0 {
			has[side], rows[side] = true, pending[0].row
		} else if c.next[side] < len(all) {
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
	c.pending[side] = f[side]
	if ok && at == c.next[other] && len(c.pending[other]) == 0 {
		c.next[other]++
		c.pending[other] = f[other]
	}
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
