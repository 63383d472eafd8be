package snapshot

import "sync/atomic"

// Segment is one table's file, read in place. It never changes after OpenSegment, so any number of goroutines may share it; strings
// and byte slices it returns are views into its memory and live until Close.
type Segment struct {
	name    string
	rows    int
	groups  []*Group
	columns []*Column
	byName  map[string]*Column
	data    []byte
	unmap   func() error
	shares  atomic.Int32 // how often Close is still to be called
}

// Name is the table's name.
func (s *Segment) Name() string { return s.name }

// Rows is the number of rows; row ids are 0 to Rows-1.
func (s *Segment) Rows() int { return s.rows }

// Bytes is the size of the segment's file.
func (s *Segment) Bytes() int64 { return int64(len(s.data)) }

// Groups are the tuple dictionaries in file order.
func (s *Segment) Groups() []*Group { return s.groups }

// Columns are all columns in file order, those of groups included.
func (s *Segment) Columns() []*Column { return s.columns }

// Column finds a column by name. The error is ErrNoColumn.
func (s *Segment) Column(name string) (*Column, error) {
	if c := s.byName[name]; c != nil {
		return c, nil
	}
	return nil, noColumnf("table %q has no column %q", s.name, name)
}

// Group is a tuple dictionary: Code tells the tuple of a row, columns with this Group hold one value a tuple.
type Group struct {
	Name     string
	Tuples   int
	Codes    Packed   // one a row
	Postings Postings // one a tuple

	size ColumnSize
}

// Size is what the codes and postings of a group take in the file; its columns have their own.
func (g *Group) Size() ColumnSize { return g.size }
