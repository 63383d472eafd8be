package odata

// maxWork is the most comparisons of a $filter with computed records. A hundred comparisons with
// each of 72,000 records are fewer. So many take a core about a tenth of a second.
const maxWork = 10_000_000

// recordsPerPause is how many records are matched between two pauses: 1 to 20 microseconds.
const recordsPerPause = 64

// about is the property that a node is about and another one, -1 without.
func (n *node) about() (first, other int) {
	first, other = -1, -1
	n.walk(func(c *node) {
		switch {
		case c.op == constant:
		case first < 0:
			first = c.property
		case first != c.property:
			other = c.property
		}
	})
	return first, other
}

// matches returns what a $filter says of each record. A part that is about one property is asked of
// each distinct value of it, once. Comparisons are counted in work.
func (t *table) matches(n *node, work *int, pause func() error) (of func(record int) verdict, err error) {
	first, other := n.about()
	switch {
	case other >= 0:
		*work += t.len() * len(n.kids)
	case first >= 0:
		n.walk(func(c *node) { *work += max(1, len(c.literals)) * len(t.columns[first].values) })
	default:
		always := n.eval(nil)
		return func(int) verdict { return always }, nil
	}
	if *work > maxWork {
		return nil, badRequest("this $filter needs more than %d comparisons with values of %s; use fewer "+
			"comparisons, or fewer values after in", maxWork, t.of.Name)
	}
	if other < 0 {
		c := &t.columns[first]
		verdicts := make([]verdict, len(c.values))
		for i := range c.values {
			if err := pause(); err != nil {
				return nil, err
			}
			verdicts[i] = n.eval(&c.values[i])
		}
		return func(record int) verdict { return verdicts[c.codes[record]] }, nil
	}
	kids := make([]func(int) verdict, len(n.kids))
	for i, kid := range n.kids {
		if kids[i], err = t.matches(kid, work, pause); err != nil {
			return nil, err
		}
	}
	return func(record int) verdict {
		return n.join(func(kid int) verdict { return kids[kid](record) })
	}, nil
}
