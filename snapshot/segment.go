package snapshot

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// Segment is one table's file, read as it is in memory. It never changes after OpenSegment and
// AddNulls, so any number of goroutines may share it. Strings and byte slices it returns are views
// into its memory and valid until Close.
type Segment struct {
	name    string
	rows    int
	groups  []*Group
	columns []*Column
	byName  map[string]*Column
	data    []byte
	free    func() error // gives data back; nil for a segment of ReadSegment
	shares  atomic.Int32 // references: calls of Close still to come
}

// Name is the table's name.
func (s *Segment) Name() string { return s.name }

// Rows is the number of rows; row ids are 0 to Rows-1.
func (s *Segment) Rows() int { return s.rows }

// Bytes is the size of the segment's file.
func (s *Segment) Bytes() int64 { return int64(len(s.data)) }

// Groups are the tuple dictionaries in file order.
func (s *Segment) Groups() []*Group { return s.groups }

// Columns are all columns in file order, including those of groups.
func (s *Segment) Columns() []*Column { return s.columns }

// Column finds a column by name. The error is ErrNoColumn.
func (s *Segment) Column(name string) (*Column, error) {
	if c := s.byName[name]; c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("%w: table %q has no column %q", ErrNoColumn, s.name, name)
}

// Group is a tuple dictionary: Codes has the tuple of each row, and columns with this Group have
// one value a tuple.
type Group struct {
	Name     string
	Tuples   int
	Codes    Packed   // one a row
	Postings Postings // one a tuple

	size ColumnSize
}

// Size is the size of a group's codes and postings in the file, without its columns.
func (g *Group) Size() ColumnSize { return g.size }

// The errors of this package, one meaning each. The message names the thing, the value and the
// bound.
var (
	// ErrCorrupt marks bytes that are not a valid segment, or in a store not a valid manifest or
	// channel.
	ErrCorrupt = errors.New("snapshot: corrupt")
	// ErrNoColumn marks a column name that a segment does not have.
	ErrNoColumn = errors.New("snapshot: no such column")
)

func corruptf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}
