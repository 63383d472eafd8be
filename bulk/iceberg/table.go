package iceberg

import (
	"fmt"
	"time"
)

// Field is a column. ID is its number in the Parquet files, where it is its position, counted from
// 1. Columns of the files that have no field are no part of the table.
type Field struct {
	ID            int
	Name, Meaning string
	Type          Type
}

// Column is what a manifest has of a column of one file. Least and Most are bounds, nil if unknown.
// Numbers are little-endian with eight bytes, a boolean is one byte, as in Parquet. Texts may be
// cut: see the functions Least and Most.
type Column struct {
	ID          int   // of the field
	Bytes       int64 // in the file
	Nulls       int64
	Least, Most []byte
}

// File is a Parquet file.
type File struct {
	Path        string // absolute, or with a scheme
	Rows, Bytes int64
	Partition   string   // the value of the partition column in all rows; empty: it is null in all
	Columns     []Column // one a field, in the same order; nil if nothing is known
}

// State is the content of a table at one moment.
type State struct {
	ID          string // the tag by which engines name it
	Time        time.Time
	Fields      []Field
	PartitionBy string // a field of type String; empty: not partitioned
	Files       []File
}

// Table is a table and its states, the oldest first.
type Table struct {
	Name     string
	Location string // the folder that contains metadata/, absolute or with a scheme
	States   []State
}

func (s *State) check() error {
	for _, f := range s.Fields {
		if !known[f.Type] || f.ID < 1 {
			return fmt.Errorf("iceberg: column %s has the type %q and the id %d", f.Name, f.Type, f.ID)
		}
	}
	if s.PartitionBy != "" && s.partition() < 0 {
		return fmt.Errorf("iceberg: %s is partitioned by %s, which is no column of texts", s.ID, s.PartitionBy)
	}
	seen := map[string]bool{}
	for _, f := range s.Files {
		switch {
		case seen[f.Path]:
			return fmt.Errorf("iceberg: %s has the file %s twice", s.ID, f.Path)
		case f.Columns != nil && len(f.Columns) != len(s.Fields):
			return fmt.Errorf("iceberg: the file %s of %s has %d columns, want %d", f.Path, s.ID, len(f.Columns),
				len(s.Fields))
		}
		seen[f.Path] = true
	}
	return nil
}

// partition returns the position of the partition column, -1 if there is none.
func (s *State) partition() int {
	for i, f := range s.Fields {
		if f.Name == s.PartitionBy && f.Type == String {
			return i
		}
	}
	return -1
}

// extends reports whether the fields of s begin with those of an earlier state.
func (s *State) extends(earlier *State) bool {
	if len(s.Fields) < len(earlier.Fields) {
		return false
	}
	for i, f := range earlier.Fields {
		if got := s.Fields[i]; got.ID != f.ID || got.Name != f.Name || got.Type != f.Type {
			return false
		}
	}
	return earlier.PartitionBy == "" || s.PartitionBy == "" || earlier.PartitionBy == s.PartitionBy
}

// history returns the latest states that can be in one table.
func (t *Table) history() []State {
	states := t.States
	for i := len(states) - 1; i > 0; i-- {
		if !states[i].extends(&states[i-1]) {
			return states[i:]
		}
	}
	return states
}
