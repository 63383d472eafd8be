package index

import (
	"math"
	"slices"

	"hdqs/snapshot"
)

// Test is a condition of a caller's own on the values of one column. It is asked about each
// distinct value once, not about rows, so that it costs what other filters cost.
type Test struct {
	Key  string // tests with the same key are the same test
	Null bool   // null passes

	// One of them, by the column's kind, reports whether a value passes: Text and Enum; Int, Bool
	// and Time; Decimal, as the nearest float64.
	Text  func(string) bool
	Int   func(int64) bool
	Float func(float64) bool

	// Ints and Floats are where the answer may change, for columns of numbers without a dictionary:
	// of the numbers between two neighbours all pass or none does.
	Ints   []int64
	Floats []float64
}

// fits reports whether the test has the function that a column needs.
func (t *Test) fits(col *snapshot.Column) bool {
	switch {
	case t == nil:
		return false
	case col.Kind == snapshot.Text || col.Kind == snapshot.Enum:
		return t.Text != nil
	case col.Kind == snapshot.Decimal:
		return t.Float != nil
	}
	return t.Int != nil
}

// testedValues adds the codes of a coded column's values that pass a test.
func (c *column) testedValues(t *Test, into codeSet) {
	col := c.col
	for code := range uint32(col.Cardinality()) {
		passes := false
		switch col.Kind {
		case snapshot.Text, snapshot.Enum:
			passes = t.Text(col.TextOf(code))
		case snapshot.Decimal:
			passes = t.Float(col.Float(col.DecOf(code)))
		default:
			passes = t.Int(col.IntOf(code))
		}
		if passes {
			into.add(code)
		}
	}
	if t.Null && col.Nullable {
		into.add(uint32(col.Cardinality()))
	}
}

// numbersTested returns tests of a column without a dictionary, of which a number that passes t
// passes at least one.
func numbersTested(col *snapshot.Column, t *Test) (tests []*numberTest) {
	if t.Null && col.Nullable {
		tests = append(tests, nullTest(col))
	}
	// ends are where the answer may change. point is the test of one of them, from that of the
	// numbers after one, below that of the numbers before the next; each may be none.
	add := func(parts ...*numberTest) {
		one := parts[0]
		for _, other := range parts[1:] {
			one = one.and(other)
		}
		if !one.never() {
			tests = append(tests, one)
		}
	}
	test := func(op Op, v Value) *numberTest { return newNumberTest(col, op, &v) }
	if col.Kind == snapshot.Decimal {
		ends := slices.Compact(slices.Sorted(slices.Values(t.Floats)))
		from, after := test(AtLeast, Value{Float: math.Inf(-1)}), math.Inf(-1)
		for _, end := range ends {
			if between := math.Nextafter(end, math.Inf(-1)); between >= after && t.Float(between) {
				add(from, test(Below, Value{Float: end}))
			}
			if t.Float(end) {
				add(test(Equal, Value{Float: end}))
			}
			after = math.Nextafter(end, math.Inf(1))
			from = test(AtLeast, Value{Float: after})
		}
		if t.Float(after) {
			add(from)
		}
		return tests
	}
	ends := slices.Compact(slices.Sorted(slices.Values(t.Ints)))
	from, after, none := test(AtLeast, Value{Int: math.MinInt64}), int64(math.MinInt64), false
	for _, end := range ends {
		if !none && after < end && t.Int(end-1) {
			add(from, test(Below, Value{Int: end}))
		}
		if t.Int(end) {
			add(test(Equal, Value{Int: end}))
		}
		if none = end == math.MaxInt64; !none {
			after = end + 1
			from = test(AtLeast, Value{Int: after})
		}
	}
	if !none && t.Int(after) {
		add(from)
	}
	return tests
}

// nullTest is the test that only null passes.
func nullTest(col *snapshot.Column) *numberTest {
	raw := col.Numbers()
	if col.Kind != snapshot.Decimal {
		return &numberTest{col: col, raw: raw, spans: make([]span, 1), null: raw.First == 1}
	}
	t := &numberTest{col: col, raw: raw, spans: make([]span, 1<<raw.ScaleBits), mask: 1<<raw.ScaleBits - 1}
	for i, scale := range raw.Scales {
		if scale == snapshot.DecNull {
			t.spans[i] = span{uint64(i), 0, 1}
		}
	}
	return t
}
