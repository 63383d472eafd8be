package index

// Counter counts the rows that pass a query by the codes of columns. One goroutine may use it. It
// must not be used after the segment is closed.
type Counter struct {
	x *Index
	s *countScratch
}

// Counter finds the rows to count. The error is that of Select.
func (x *Index) Counter(q *Query) (*Counter, error) {
	rows, err := x.Passing(q)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	s := x.counting.Get().(*countScratch)
	s.collect(x, rows)
	return &Counter{x, s}, nil
}

// Close ends the use of a Counter and of what it has returned.
func (c *Counter) Close() {
	c.x.counting.Put(c.s)
	c.s = nil
}

// ByCode returns the number of rows with each code of a column, null's code last, or with each
// tuple of its group. It is nil for a column that has neither. It is valid until the next call. The
// error is ErrFilter for a column that the table does not have, or ErrPosting.
func (c *Counter) ByCode(column string) ([]uint32, error) {
	col := c.x.columns[column]
	switch {
	case col == nil:
		return nil, filterf("the table has no column %q", column)
	case col.space == nil:
		return nil, nil
	}
	err := c.s.count(c.x, col.space, c.s.choose(c.x, col.space))
	return c.s.counts, err
}
