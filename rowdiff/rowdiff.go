package rowdiff

import (
	"fmt"
	"slices"

	"hdqs/index"
	"hdqs/snapshot"
)

// Columns are the columns by which two states of a table are compared.
type Columns struct {
	// Key identifies a row. Rows of one value of its first column must be next to each other in the
	// table, which then takes less memory to compare.
	Key []string
	// Values are compared in rows with the same key.
	Values []string
	// Order is the sort order of the table. Values of its columns may mean something else in the
	// other state, such as numbers that each load assigns anew.
	Order []string
}

// Kind is what happened to a row.
type Kind uint8

// The kinds of change.
const (
	Added Kind = iota
	Removed
	Changed
	Kinds // the number of kinds
)

// String is the name of the kind in answers.
func (k Kind) String() string { return [...]string{"added", "removed", "changed"}[k] }

// Change is one row that differs. Old is not set for Added, New not for Removed.
type Change struct {
	Kind     Kind
	Old, New uint32 // row ids
}

// Totals are the numbers of changes by kind.
type Totals [Kinds]int

// All is the number of all changes.
func (t *Totals) All() int { return t[Added] + t[Removed] + t[Changed] }

// The two states of a table.
const (
	before = iota
	after
	sides
)

// Tables are two states of a table, ready to be compared by one goroutine at a time: they keep what
// they find out about values. They read both segments in place and must not be used after one of
// them is closed.
type Tables struct {
	segments [sides]*snapshot.Segment // nil for a state without the table
	values   []*column                // by position in Columns.Values
	order    []*column
	all      []word // equal in rows with the same key and values
	keys     []word // equal in rows with the same key
	lead     word   // equal in rows with the same value of the first column of the key
}

// Open prepares two states of a table. Either may be nil: then it has no rows.
func Open(old, current *snapshot.Segment, c Columns) (*Tables, error) {
	t := &Tables{segments: [sides]*snapshot.Segment{old, current}}
	if old == nil || current == nil {
		return t, nil
	}
	known := map[string]*column{}
	find := func(names []string) (found []*column, err error) {
		for _, name := range names {
			if known[name] == nil {
				if known[name], err = openColumn(t.segments, name); err != nil {
					return nil, err
				}
			}
			found = append(found, known[name])
		}
		return found, nil
	}
	keys, err := find(c.Key)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("rowdiff: table %q has no key", current.Name())
	}
	if t.values, err = find(c.Values); err != nil {
		return nil, err
	}
	if t.order, err = find(c.Order); err != nil {
		return nil, err
	}
	t.lead = wordsOf(keys[:1])[0]
	t.keys = wordsOf(keys)
	t.all = wordsOf(slices.Concat(keys, t.values))
	return t, nil
}

// Differ reports whether the rows of a change differ in the value at a position of Columns.Values.
func (t *Tables) Differ(position int, c Change) bool {
	v := t.values[position]
	var words [sides][2]uint64
	for side, row := range [sides]uint32{c.Old, c.New} {
		words[side][0], words[side][1] = v.words(side, v.sides[side].Position(row))
	}
	return words[before] != words[after]
}

// Compare calls emit with each difference between two lists of rows: those of the old state and
// those of the current one that pass. It stops at the first error of emit.
//
// Of rows with one key, equal ones are set against each other first, in the order of the lists,
// then the rest: those are changed. What is then left of one list is removed or added.
//
// Changes are in the order of the table, each by the values of its row: a removed one as it was,
// the others as they are. Of rows that are equal in that, removed ones come first.
func (t *Tables) Compare(old, current *index.Passing, emit func(Change) error) (Totals, error) {
	c := newComparison(t, old, current, emit)
	err := c.run()
	return c.totals, err
}
