package aggregate

import (
	"errors"
	"fmt"

	"hdqs/index"
	"hdqs/snapshot"
)

// Part is what of a column's value decides the group.
type Part uint8

// The parts. All but Whole are of Time columns, in UTC.
const (
	Whole   Part = iota
	Year         // an Int, such as 2024
	Quarter      // a Text, such as 2024-Q2
	Month        // a Text, such as 2024-05
)

// Group is a field to group by.
type Group struct {
	Column  string
	Part    Part
	Classes *Classes // of a Text column; nil without
}

// Classes put the texts of a column into classes. Rows of one class are a group, those with other
// texts and with null are the group of null.
type Classes struct {
	Key string            // the same for the same classes
	Of  map[string]string // the class by text
}

// Func is what a measure computes from the rows of a group.
type Func uint8

// The functions. Null values do not count, except for Count and Latest.
const (
	Count    Func = 1 + iota // the number of rows; it has no column
	Sum                      // exact; null without a value
	Min                      // in the order of the column: Enum as declared; null without a value
	Max                      // likewise
	Mean                     // the exact sum divided by the number of values, rounded once to a Float
	Distinct                 // the number of different values
	Latest                   // the value of the rows of the newest period, see Options
)

var funcNames = [...]string{"0", "count", "sum", "min", "max", "mean", "distinct", "latest"}

// String is the name of the function in messages.
func (f Func) String() string {
	if int(f) < len(funcNames) {
		return funcNames[f]
	}
	return "unknown"
}

// Measure is one figure for each group.
type Measure struct {
	Func   Func
	Column string
}

// Question asks for measures of the rows that pass the filters of Query, in groups. Limit and
// Offset of Query do not count. Without Groups all rows are one group, even if there are none.
type Question struct {
	Query     *index.Query
	Groups    []Group
	Measures  []Measure
	MaxGroups int // 0 means DefaultMaxGroups

	// Pause, unless nil, is called every few microseconds to some dozens of them.
	Pause func()
}

// DefaultMaxGroups is the most groups of an answer unless the question says otherwise.
const DefaultMaxGroups = 100_000

// maxPairs is the most pairs of a group and a distinct value that Distinct keeps.
const maxPairs = 1 << 22

// ErrQuestion marks a question that the table cannot answer: a column that it does not have, or a
// part or function that does not fit the column's kind.
var ErrQuestion = errors.New("aggregate: invalid question")

func questionf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrQuestion, fmt.Sprintf(format, args...))
}

// TooManyGroups is the error for an answer with more groups than the question allows.
type TooManyGroups struct{ Max int }

func (e *TooManyGroups) Error() string {
	return fmt.Sprintf("aggregate: more than %d groups: group by fewer fields, or filter", e.Max)
}

// TooManyValues is the error for a Distinct that would have to keep too many different values.
type TooManyValues struct {
	Column string
	Max    int
}

func (e *TooManyValues) Error() string {
	return fmt.Sprintf("aggregate: more than %d distinct values of column %q in all groups: "+
		"group by fewer fields, or filter", e.Max, e.Column)
}

// check returns an error if a part does not fit the column.
func (g Group) check(c *snapshot.Column) error {
	if g.Part > Month || g.Part != Whole && c.Kind != snapshot.Time {
		return questionf("column %q of kind %s has no part %d", c.Name, c.Kind, g.Part)
	}
	if g.Classes != nil && (g.Part != Whole || c.Kind != snapshot.Text) {
		return questionf("column %q of kind %s has no classes", c.Name, c.Kind)
	}
	return nil
}

// check returns an error if a function does not fit the column.
func (m Measure) check(c *snapshot.Column) error {
	switch m.Func {
	case Min, Max, Distinct, Latest:
		return nil
	case Sum, Mean:
		if c.Kind == snapshot.Int || c.Kind == snapshot.Decimal {
			return nil
		}
	}
	return questionf("column %q of kind %s has no measure %s", c.Name, c.Kind, m.Func)
}
