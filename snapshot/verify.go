package snapshot

import "errors"

// Verify checks what opening a segment does not: that each row is in the posting of its code and in
// no other, that tuples are numbered by first appearance, that every distinct value occurs, and
// that columns marked as nullable have nulls. It takes a pass over all rows and postings.
func (s *Segment) Verify() error {
	var errs []error
	for _, g := range s.groups {
		if err := g.verify(); err != nil {
			errs = append(errs, s.in("group", g.Name, err))
		}
	}
	for _, c := range s.columns {
		if err := c.verify(); err != nil {
			errs = append(errs, s.in("column", c.Name, err))
		}
	}
	return errors.Join(errs...)
}

func (g *Group) verify() error {
	next := uint64(0)
	for row := range uint32(g.Codes.Len()) {
		switch code := g.Codes.At(row); {
		case code > next:
			return corruptf("row %d has tuple %d before tuple %d has appeared", row, code, next)
		case code == next:
			next++
		}
	}
	if next != uint64(g.Tuples) {
		return corruptf("%d tuples occur of %d", next, g.Tuples)
	}
	return g.Postings.verify(g.Codes)
}

func (c *Column) verify() error {
	if !c.coded {
		return c.verifyNumbers()
	}
	codes := c.CodeCount()
	seen := make([]bool, codes)
	for i := range uint32(c.n) {
		seen[c.codes.At(i)] = true
	}
	for code, is := range seen {
		null := code == c.dict.len()
		if !is && (null || c.Kind != Enum) {
			return corruptf("no position has code %d of %d (null: %v)", code, codes, null)
		}
	}
	if p, ok := c.Postings(); ok {
		return p.verify(c.codes)
	}
	return nil
}

func (c *Column) verifyNumbers() error {
	null := false
	used := make([]bool, c.exact.n)
	for i := range uint32(c.n) {
		switch {
		case c.IsNull(i):
			null = true
		case c.Kind == Decimal:
			if d := c.Dec(i); d.Scale == DecText {
				used[d.Mantissa] = true
			}
		}
	}
	if null != c.Nullable {
		return corruptf("nulls: %v, the column is marked as nullable: %v", null, c.Nullable)
	}
	for i, is := range used {
		if !is {
			return corruptf("no position has exact text %d of %d", i, len(used))
		}
	}
	return nil
}

// verify checks that each row is in the posting of its code and in no other. If each posting has
// only rows of its code, and all postings together as many rows as the table, no row is missing.
func (p *Postings) verify(codes Packed) error {
	total := uint64(0)
	has := func(row, code uint32) error {
		if int(row) >= codes.Len() {
			return corruptf("posting %d has row %d of %d", code, row, codes.Len())
		}
		if got := codes.At(row); got != uint64(code) {
			return corruptf("posting %d has row %d, whose code is %d", code, row, got)
		}
		total++
		return nil
	}
	for code := range uint32(p.n) {
		if err := p.EachRow(code, func(row uint32) error { return has(row, code) }); err != nil {
			return err
		}
	}
	if total != uint64(codes.Len()) {
		return corruptf("postings have %d rows of %d", total, codes.Len())
	}
	return nil
}
