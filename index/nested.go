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
	var chunk ChunkRows
	for _, n := range *p.nestings() {
		if pair := n.firstOf(passing, &chunk); pair != nil {
			return pair, nil
		}
	}
	o.nestedOnce.Do(func() { o.findMixed(p) })
	among := o.mixed
	if !anyPeriod {
		among = o.crossed
	}
	byLevel, n := make([][]uint32, len(p.units)), 0
	for r := range passing.in(among).Rows(0, MaxOverlaps+1) {
		if n += int(r.To - r.From); n > MaxOverlaps {
			return nil, ErrManyOverlaps
		}
		for row := r.From; row < r.To; row++ {
			level := p.levelOf(uint32(p.group.Codes.At(row)))
			byLevel[level] = append(byLevel[level], row)
		}
	}
	return o.firstCrossing(p, byLevel, anyPeriod), nil
}

// in is those of the passing rows that a set has.
func (p *Passing) in(s *set) *Passing {
	predicates := slices.Clip(p.predicates)
	if p.kept != nil {
		predicates = []*predicate{{set: p.kept}}
	}
	return &Passing{x: p.x, predicates: append(predicates, &predicate{set: s})}
}

// firstOf finds a passing row that another one of the same period contains.
func (n *nesting) firstOf(passing *Passing, chunk *ChunkRows) *Overlap {
	first := make(map[uint32]uint32) // passing row of each class
	for i := range passing.among(n.outer.rows, chunk) {
		first[n.outer.classes[i]] = n.outer.rows[i]
	}
	if len(first) == 0 {
		return nil
	}
	for i := range passing.among(n.inner.rows, chunk) {
		for class := n.inner.classes[i]; class != noClass; class = n.above[class] {
			if outer, has := first[class]; has {
				return &Overlap{outer, n.inner.rows[i]}
			}
		}
	}
	return nil
}

// findMixed finds the rows of which one may contain another.
func (o *Overlaps) findMixed(p *places) {
	o.keys, o.named = p.keys(p.fields...), p.namedKeys(p.fields...)
	var mixed, crossed builder
	mixed.reset(p.rows)
	crossed.reset(p.rows)
	if is := p.mixed(); len(is) > 0 {
		for from, tuples := range blocksOf(p.group, p.rows) {
			for i, tuple := range tuples {
				if is[tuple] {
					mixed.addRow(from + uint32(i))
				}
			}
		}
		for row := range o.eachCrossing() {
			if is[p.group.Codes.At(row)] {
				crossed.addRow(row)
			}
		}
	}
	o.mixed, o.crossed = mixed.build(), crossed.build()
	o.bytes.Add(int64(o.mixed.size() + o.crossed.size()))
}

// firstCrossing finds a row that another one of an overlapping period, or of any, contains, among
// rows by level.
func (o *Overlaps) firstCrossing(p *places, byLevel [][]uint32, anyPeriod bool) *Overlap {
	type class struct {
		level int
		key   rowKey
		named bool
	}
	outer := map[class]map[Period]uint32{} // a row of each period
	for level, rows := range byLevel {
		for _, row := range rows {
			period := o.Period(row)
			for l := range level {
				for _, key := range []class{{l, o.keys[l].of(row), false}, {l, o.named[l].of(row), true}} {
					for other, container := range outer[key] {
						if anyPeriod || period.meets(other) {
							return &Overlap{container, row}
						}
					}
				}
			}
			if level == len(o.keys) || p.isPart(uint32(p.group.Codes.At(row)), level) {
				continue
			}
			keys := []class{{level, o.keys[level].of(row), false}}
			if p.hasNames(uint32(p.group.Codes.At(row)), level) {
				keys = append(keys, class{level, o.named[level].of(row), true})
			}
			for _, key := range keys {
				if outer[key] == nil {
					outer[key] = map[Period]uint32{}
				}
				outer[key][period] = row
			}
		}
	}
	return nil
}
