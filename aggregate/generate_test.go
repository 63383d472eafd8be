package aggregate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"hdqs/index"
	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// generate makes a random table.
func generate(tb testing.TB, r *rand.Rand, rows int) *snapshot.Segment {
	tb.Helper()
	n := 0
	text := func() string {
		n++
		return fmt.Sprintf("%s%d", []string{"", "Zoë ", "日本", "a,\"b\""}[r.IntN(4)], n)
	}
	return tables.Segment(tb, tables.Random(r, rows, text, "sorted", "clustered", "scattered"))
}

// opened is the Table of a segment.
func opened(tb testing.TB, seg *snapshot.Segment, o Options) *Table {
	tb.Helper()
	x, err := index.Open(seg, index.Options{})
	testkit.Must(tb, err)
	table, err := Open(x, seg, o)
	testkit.Must(tb, err)
	return table
}

// randomQuestion has up to four fields and five measures, and up to three filters.
func randomQuestion(r *rand.Rand, seg *snapshot.Segment) *Question {
	q := &Question{Query: randomQuery(r, seg)}
	columns := seg.Columns()
	for range []int{0, 1, 1, 2, 2, 3, 4}[r.IntN(7)] {
		c := columns[r.IntN(len(columns))]
		g := Group{Column: c.Name}
		if c.Kind == snapshot.Time {
			g.Part = Part(r.IntN(4))
		}
		if c.Kind == snapshot.Text && r.IntN(2) == 0 {
			g.Classes = randomClasses(r, c)
		}
		q.Groups = append(q.Groups, g)
	}
	for len(q.Measures) < 1+r.IntN(5) {
		m := Measure{Func: Func(1 + r.IntN(7))}
		if m.Func != Count {
			c := columns[r.IntN(len(columns))]
			for (m.Func == Sum || m.Func == Mean) && c.Kind != snapshot.Int && c.Kind != snapshot.Decimal {
				c = columns[r.IntN(len(columns))]
			}
			m.Column = c.Name
		}
		q.Measures = append(q.Measures, m)
	}
	return q
}

// randomClasses has three of four values of a column, and one that it does not have.
func randomClasses(r *rand.Rand, c *snapshot.Column) *Classes {
	of := map[string]string{"no such text": "none"}
	for i := range uint32(c.Len()) {
		if !c.IsNull(i) && r.IntN(4) > 0 {
			of[strings.Clone(c.Text(i))] = fmt.Sprintf("class %d", r.IntN(4))
		}
	}
	return &Classes{Key: fmt.Sprint(of), Of: of}
}

// randomQuery has up to three filters with values that occur.
func randomQuery(r *rand.Rand, seg *snapshot.Segment) *index.Query {
	q := &index.Query{}
	for range []int{0, 0, 1, 1, 2, 3}[r.IntN(6)] {
		c := seg.Columns()[r.IntN(len(seg.Columns()))]
		row := uint32(r.IntN(seg.Rows()))
		if c.Group != nil {
			row = uint32(c.Group.Codes.At(row))
		}
		if c.IsNull(row) {
			continue
		}
		f := index.Filter{Columns: []string{c.Name}, Op: index.Equal}
		switch c.Kind {
		case snapshot.Text, snapshot.Enum:
			f.Value.Text = c.Text(row)
		case snapshot.Decimal:
			f.Op = []index.Op{index.AtLeast, index.Below, index.AtLeastOrNull}[r.IntN(3)]
			f.Value.Float = float64(r.IntN(2000) - 1000)
		default:
			f.Value.Int = c.Int(row)
			if r.IntN(3) > 0 {
				f.Op = []index.Op{index.AtLeast, index.Below, index.AtLeastOrNull}[r.IntN(3)]
			}
		}
		q.Filters = append(q.Filters, f)
	}
	return q
}
