package aggregate

// distinct keeps the pairs of a group and a value, and counts those of each group.
type distinct struct {
	c     *column
	null  uint64
	seen  map[pair]struct{}
	count []uint32
}

type pair struct {
	token uint64
	id    uint32
}

func newDistinct(c *column) *distinct {
	return &distinct{c: c, null: c.nullToken(), seen: make(map[pair]struct{})}
}

func (d *distinct) grow(groups int) { d.count = grown(d.count, groups) }

func (d *distinct) add(b *block) error {
	for i, token := range b.tokens(d.c) {
		if token != d.null {
			d.see(pair{token, b.group(i)})
		}
	}
	return d.check()
}

func (d *distinct) see(p pair) {
	if _, is := d.seen[p]; !is {
		d.seen[p] = struct{}{}
		d.count[p.id]++
	}
}

func (d *distinct) check() error {
	if len(d.seen) > maxPairs {
		return &TooManyValues{Column: d.c.col.Name, Max: maxPairs}
	}
	return nil
}

func (d *distinct) merge(other state, ids []uint32) error {
	for p := range other.(*distinct).seen {
		d.see(pair{p.token, ids[p.id]})
	}
	return d.check()
}

func (d *distinct) value(id uint32, _ Func) Value { return Value{Kind: Int, Int: int64(d.count[id])} }
