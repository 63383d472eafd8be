package aggregate

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"hdqs/index"
	"hdqs/internal/cache"
	"hdqs/snapshot"
)

// Options says what a Table needs to know of the columns.
type Options struct {
	// PeriodStart and PeriodEnd are the columns of a row's period, for Latest: the newest has the
	// latest end, where null is later than any, and of those the latest start, where null is
	// earlier than any. Either may be empty.
	PeriodStart, PeriodEnd string
}

// Table answers questions on one segment. Any number of goroutines may share it. It must not be
// used after the segment is closed.
type Table struct {
	x       *index.Index
	columns map[string]*column
	start   *column // of the period, or nil
	end     *column
	inputs  *cache.Cache[string, *input]

	made atomic.Int64 // bytes of what columns keep, but inputs
}

// column is a column as questions use it. What is derived from it is made at the first use.
type column struct {
	col   *snapshot.Column
	space *index.Space // nil for numbers of rows without a dictionary
	made  *atomic.Int64

	codingOnce  sync.Once
	coding      coding
	numericOnce sync.Once
	numeric     *numeric
}

// coding numbers the values of a column of a space in their order.
type coding struct {
	codes []uint32 // by code of the space; nil if they are the same
	n     int      // number of values; null has the number n
	at    []uint32 // a tuple with each value, for columns of groups that are not coded
}

// Open makes a Table of a segment and its index. The columns of the period must be in it.
func Open(x *index.Index, seg *snapshot.Segment, o Options) (*Table, error) {
	t := &Table{
		x: x, columns: make(map[string]*column, len(seg.Columns())),
		inputs: cache.New[string, *input](int64(inputBytes(seg.Rows())), nil),
	}
	for _, col := range seg.Columns() {
		t.columns[col.Name] = &column{col: col, space: x.Space(col.Name), made: &t.made}
	}
	for name, to := range map[string]**column{o.PeriodStart: &t.start, o.PeriodEnd: &t.end} {
		if name == "" {
			continue
		}
		c, err := t.column(name)
		if err != nil {
			return nil, err
		}
		if c.col.Kind != snapshot.Time {
			return nil, questionf("column %q of a period has kind %s, want time", name, c.col.Kind)
		}
		*to = c
	}
	return t, nil
}

// GroupOf returns what numbers the group of a row, as a question with these groups has them. It
// must not be called by several goroutines at once.
func (t *Table) GroupOf(groups []Group) (func(row uint32) uint32, error) {
	p, err := t.plan(&Question{Groups: groups, MaxGroups: math.MaxUint32 - 1})
	if err != nil {
		return nil, err
	}
	if len(groups) == 0 {
		return func(uint32) uint32 { return 0 }, nil
	}
	keys, b := newKeys(p), newBlock()
	return func(row uint32) uint32 {
		b.Clear()
		b.Add(row, row+1, blockRows)
		if keys.add(b) != nil {
			panic("aggregate: more groups than rows")
		}
		return b.group(0)
	}, nil
}

func (t *Table) column(name string) (*column, error) {
	if c := t.columns[name]; c != nil {
		return c, nil
	}
	return nil, questionf("the table has no column %q", name)
}

// values returns the coding of a column of a space.
func (c *column) values() *coding {
	c.codingOnce.Do(func() {
		switch {
		case c.col.Coded() && c.col.Group == nil:
			c.coding = coding{n: c.col.Cardinality()}
		case c.col.Coded():
			codes := make([]uint32, c.col.Len())
			c.col.Codes().Unpack(codes, 0)
			c.coding = coding{codes: codes, n: c.col.Cardinality()}
		default:
			c.coding = c.number()
		}
		c.made.Add(4 * int64(cap(c.coding.codes)+cap(c.coding.at)))
	})
	return &c.coding
}

// number numbers the values of a column of tuples that has no dictionary.
func (c *column) number() coding {
	tuples := make([]uint32, 0, c.col.Len())
	for i := range uint32(c.col.Len()) {
		if !c.col.IsNull(i) {
			tuples = append(tuples, i)
		}
	}
	slices.SortFunc(tuples, c.compare)
	d := coding{codes: make([]uint32, c.col.Len())}
	for k, tuple := range tuples {
		if k == 0 || c.compare(tuples[k-1], tuple) != 0 {
			d.at = append(d.at, tuple)
		}
		d.codes[tuple] = uint32(len(d.at) - 1)
	}
	d.n = len(d.at)
	for i := range uint32(c.col.Len()) {
		if c.col.IsNull(i) {
			d.codes[i] = uint32(d.n)
		}
	}
	return d
}

// compare orders the values at two positions of an Int or Decimal column, which are not null.
func (c *column) compare(a, b uint32) int {
	if c.col.Kind == snapshot.Decimal {
		return c.col.CompareDecs(c.col.Dec(a), c.col.Dec(b))
	}
	return cmp.Compare(c.col.Int(a), c.col.Int(b))
}

// value is the value with a number of the coding.
func (c *column) value(number uint32) Value {
	d := c.values()
	col := c.col
	switch {
	case int(number) >= d.n:
		return Value{}
	case d.at != nil && col.Kind == snapshot.Decimal:
		return c.decValue(col.Dec(d.at[number]))
	case d.at != nil:
		return intValue(col.Kind, col.Int(d.at[number]))
	}
	switch col.Kind {
	case snapshot.Text, snapshot.Enum:
		return Value{Kind: Text, Text: col.TextOf(number)}
	case snapshot.Decimal:
		return c.decValue(col.DecOf(number))
	}
	return intValue(col.Kind, col.IntOf(number))
}

func intValue(kind snapshot.Kind, v int64) Value {
	switch kind {
	case snapshot.Bool:
		return Value{Kind: Bool, Int: v}
	case snapshot.Time:
		return Value{Kind: Time, Int: v}
	}
	return Value{Kind: Int, Int: v}
}

func (c *column) decValue(d snapshot.Dec) Value {
	switch d.Scale {
	case snapshot.DecNull:
		return Value{}
	case snapshot.DecText:
		return Value{Kind: Decimal, Text: c.col.DecString(d)}
	}
	return Value{Kind: Decimal, Int: d.Mantissa, Scale: d.Scale}
}

// rawValue is the value of a packed number of a column without a space.
func (c *column) rawValue(v uint64) Value {
	n := c.col.Numbers()
	switch {
	case n.IsNull(v):
		return Value{}
	case c.col.Kind == snapshot.Decimal:
		return c.decValue(n.Dec(v))
	}
	return intValue(c.col.Kind, n.Int(v))
}

// compareRaw orders two packed numbers of a column without a space. Null is last.
func (c *column) compareRaw(a, b uint64) int {
	n := c.col.Numbers()
	switch nullA, nullB := n.IsNull(a), n.IsNull(b); {
	case nullA && nullB:
		return 0
	case nullA:
		return 1
	case nullB:
		return -1
	case c.col.Kind == snapshot.Decimal:
		return c.col.CompareDecs(n.Dec(a), n.Dec(b))
	}
	return cmp.Compare(a, b)
}

// noToken is the token of null where there is none.
const noToken = ^uint64(0)

// nullToken is the token of null, in columns that have one for it.
func (c *column) nullToken() uint64 {
	switch {
	case c.space != nil:
		return uint64(c.values().n)
	case c.col.Kind == snapshot.Int && c.col.Nullable:
		return 0
	case c.col.Nullable:
		for k, scale := range c.col.Numbers().Scales {
			if scale == snapshot.DecNull {
				return uint64(k) // whose mantissa is 0
			}
		}
	}
	return noToken
}

// tokenValue is the value of a token.
func (c *column) tokenValue(token uint64) Value {
	if c.space != nil {
		return c.value(uint32(token))
	}
	return c.rawValue(token)
}
