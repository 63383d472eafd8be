package index

import "slices"

// Nested yields two passing rows of one group of which A is of a place that contains that of B,
// with the same values in Options.Nested, and periods that have a moment in common, or any, until
// yield returns false. The error is ErrManyOverlaps, or that of Passing.
func (o *Overlaps) Nested(q *Query, s *Search, yield func(Overlap) bool) error {
	p := o.x.places
	if p == nil {
		return nil
	}
	passing, err := o.x.Passing(q)
	if err != nil {
		return err
	}
	if !q.Coarsest { // which drops the rows that others contain
		var chunk ChunkRows
		for _, n := range *p.nestings() {
			if !n.each(passing, &chunk, s, yield) {
				return nil
			}
		}
	}
	byLevel, n := make([][]uint32, len(p.units)), 0
	for r := range passing.in(o.among(p, s.AnyPeriod)).Rows(0, s.Most+1) {
		if n += int(r.To - r.From); n > s.Most {
			return ErrManyOverlaps
		}
		for row := r.From; row < r.To; row++ {
			level := p.levelOf(uint32(p.group.Codes.At(row)))
			byLevel[level] = append(byLevel[level], row)
		}
	}
	if n > 0 {
		o.nestedOnce.Do(func() { o.keys, o.named = p.keys(p.fields...), p.namedKeys(p.fields...) })
		o.eachNested(p, byLevel, s, yield)
	}
	return nil
}

// in is those of the passing rows that a set has.
func (p *Passing) in(s *set) *Passing {
	predicates := slices.Clip(p.predicates)
	if p.kept != nil {
		predicates = []*predicate{{set: p.kept}}
	}
	return &Passing{x: p.x, predicates: append(predicates, &predicate{set: s})}
}

// each yields passing rows that others of the same period and group contain. It reports whether
// there may be more.
func (n *nesting) each(passing *Passing, chunk *ChunkRows, s *Search, yield func(Overlap) bool) bool {
	type class struct{ class, group uint32 }
	first := make(map[class]uint32) // passing row of each class
	for i := range passing.among(n.outer.rows, chunk) {
		row := n.outer.rows[i]
		first[class{n.outer.classes[i], s.GroupOf(row)}] = row
	}
	if len(first) == 0 {
		return true
	}
	for i := range passing.among(n.inner.rows, chunk) {
		row := n.inner.rows[i]
		group := s.GroupOf(row)
		for of := n.inner.classes[i]; of != noClass; of = n.above[of] {
			if outer, has := first[class{of, group}]; has && !yield(Overlap{outer, row}) {
				return false
			}
		}
	}
	return true
}

// among is the rows of which one may contain another: of any period, or with periods that cross.
func (o *Overlaps) among(p *places, anyPeriod bool) *set {
	of := &o.crossed
	if anyPeriod {
		of = &o.mixed
	}
	return of.get(func() *set {
		var b builder
		b.reset(p.rows)
		if is := p.mixed(); len(is) > 0 {
			for row := range o.eachCrossing(anyPeriod) {
				if is[p.group.Codes.At(row)] {
					b.addRow(row)
				}
			}
		}
		found := b.build()
		o.bytes.Add(int64(found.size()))
		return found
	})
}

// eachNested yields rows that others of their group and of an overlapping period, or of any,
// contain, among rows by level.
func (o *Overlaps) eachNested(p *places, byLevel [][]uint32, s *Search, yield func(Overlap) bool) {
	type class struct {
		level int
		key   rowKey
		named bool
		group uint32
	}
	outer := map[class]map[Period]uint32{} // a row of each period
	for level, rows := range byLevel {
		for _, row := range rows {
			period, group := o.Period(row), s.GroupOf(row)
			for l := range level {
				coded, named := class{l, o.keys[l].of(row), false, group}, class{l, o.named[l].of(row), true, group}
				for _, key := range []class{coded, named} {
					for other, container := range outer[key] {
						if (s.AnyPeriod || period.meets(other)) && !yield(Overlap{container, row}) {
							return
						}
					}
				}
			}
			if level == len(o.keys) || p.isPart(uint32(p.group.Codes.At(row)), level) {
				continue
			}
			keys := []class{{level, o.keys[level].of(row), false, group}}
			if p.hasNames(uint32(p.group.Codes.At(row)), level) {
				keys = append(keys, class{level, o.named[level].of(row), true, group})
			}
			for _, key := range keys {
				if outer[key] == nil {
					outer[key] = map[Period]uint32{}
				}
				outer[key][period] = row
			}
		}
	}
}
