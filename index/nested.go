package index

import "slices"

// FirstNested finds two passing rows of which A is of a place that contains that of B, with the
// same values in Options.Nested, and periods that have a moment in common, or any; nil if there are
// none. The error is ErrManyOverlaps, or that of Passing.
func (o *Overlaps) FirstNested(q *Query, anyPeriod bool) (*Overlap, error) {
	p := o.x.places
	if p == nil {
		return nil, nil
	}
	passing, err := o.x.Passing(q)
	if err != nil {
		return nil, err
	}
	defer passing.Close()
	if pair := p.nesting().firstOf(passing); pair != nil {
		return pair, nil
	}
	o.nestedOnce.Do(func() { o.findMixed(p) })
	byLevel := make([][]uint32, len(p.units))
	n := 0
	for row := range passing.among(o.mixed) {
		if !anyPeriod && !o.crosses(row) {
			continue
		}
		level := p.levelOf(uint32(p.group.Codes.At(row)))
		byLevel[level] = append(byLevel[level], row)
		if n++; n > MaxOverlaps {
			return nil, ErrManyOverlaps
		}
	}
	return o.firstCrossing(p, byLevel, anyPeriod), nil
}

// firstOf finds a passing row that another one of the same period contains.
func (n *nesting) firstOf(passing *Passing) *Overlap {
	var chunk ChunkRows
	var buf words
	first := make(map[uint32]uint32) // passing row of each class
	before := 0
	for k := range n.outer.rows.chunks {
		c := &n.outer.rows.chunks[k]
		if c.shape != empty && passing.Read(k, &chunk) > 0 {
			n.outer.each(k, before, chunk.Words(), &buf, func(word, bit int, class uint32) {
				first[class] = chunk.Base() + uint32(word<<6+bit)
			})
		}
		before += int(c.rows)
	}
	var found *Overlap
	before = 0
	for k := 0; k < len(n.inner.rows.chunks) && len(first) > 0 && found == nil; k++ {
		c := &n.inner.rows.chunks[k]
		if c.shape != empty && passing.Read(k, &chunk) > 0 {
			n.inner.each(k, before, chunk.Words(), &buf, func(word, bit int, class uint32) {
				for ; class != noClass && found == nil; class = n.above[class] {
					if outer, has := first[class]; has {
						found = &Overlap{outer, chunk.Base() + uint32(word<<6+bit)}
					}
				}
			})
		}
		before += int(c.rows)
	}
	return found
}

// findMixed finds the rows of which one may contain another.
func (o *Overlaps) findMixed(p *places) {
	for level := range len(p.units) - 1 {
		o.keys = append(o.keys, p.rules.rowKeys(slices.Concat(p.units[level], p.fields)))
	}
	for _, levels := range p.rowsByLevel() {
		for _, rows := range levels {
			o.mixed = append(o.mixed, rows...)
		}
	}
	slices.Sort(o.mixed)
	o.bytes.Add(4 * int64(cap(o.mixed)))
}

// firstCrossing finds a row that another one of an overlapping period, or of any, contains, among
// rows by level.
func (o *Overlaps) firstCrossing(p *places, byLevel [][]uint32, anyPeriod bool) *Overlap {
	type class struct {
		level int
		key   rowKey
	}
	outer := map[class]map[Period]uint32{} // a row of each period
	for level, rows := range byLevel {
		for _, row := range rows {
			period := o.Period(row)
			for l := range level {
				for other, container := range outer[class{l, o.keys[l].of(row)}] {
					if anyPeriod || period.meets(other) {
						return &Overlap{container, row}
					}
				}
			}
			if level == len(o.keys) || p.isPart(row, level) {
				continue
			}
			key := class{level, o.keys[level].of(row)}
			if outer[key] == nil {
				outer[key] = map[Period]uint32{}
			}
			outer[key][period] = row
		}
	}
	return nil
}
