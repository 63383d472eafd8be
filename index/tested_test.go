//go:build !race

package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// partOf is 2n for what lies before the n-th of some ends and after the one before, and 2n+1 for
// that end itself, but for what comes twice among the ends.
func partOf[N int64 | float64](v N, ends []N) (part int) {
	for k, end := range ends {
		switch {
		case v == end:
			return 2*k + 1
		case v > end:
			part += 2
		}
	}
	return part
}

// floatOf is a decimal, which may be kept as its text.
func floatOf(c *snapshot.Column, at uint32) float64 {
	v, _ := strconv.ParseFloat(c.DecString(c.Dec(at)), 64)
	return v
}

// randomTest is a test of a column that passes values at random, and what it says of each row.
func randomTest(r *rand.Rand, c *snapshot.Column, key string) (*Test, func(at uint32) bool) {
	bits := r.Uint64() // which part between two ends passes
	passes := func(part int) bool { return bits>>(part%64)&1 != 0 }
	test := &Test{Key: key, Null: r.IntN(2) == 0}
	somewhere := func() uint32 { return uint32(r.IntN(c.Len())) }
	switch c.Kind {
	case snapshot.Text, snapshot.Enum:
		test.Text = func(s string) bool { return passes(len(s)) }
		return test, func(at uint32) bool { return test.Text(c.Text(at)) }
	case snapshot.Decimal:
		for range r.IntN(5) {
			if at := somewhere(); !c.IsNull(at) {
				test.Floats = append(test.Floats, floatOf(c, at))
			}
		}
		test.Float = func(v float64) bool { return passes(partOf(v, test.Floats)) }
		return test, func(at uint32) bool { return test.Float(floatOf(c, at)) }
	}
	for range r.IntN(5) {
		test.Ints = append(test.Ints, c.Int(somewhere()))
	}
	test.Int = func(v int64) bool { return passes(partOf(v, test.Ints)) }
	return test, func(at uint32) bool { return test.Int(c.Int(at)) }
}

// TestTested compares tests of a caller's own with what they say of each row, on random tables.
func TestTested(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	for _, rows := range []int{1, 100, 20_000, 20_000, 70_000} {
		seg := randomSegment(t, r, rows)
		plain, err := seg.Column("plain")
		testkit.Must(t, err)
		if rows >= 20_000 && plain.Coded() {
			t.Fatal("no numbers without a dictionary")
		}
		x := opened(t, seg, Options{})
		other := Query{Filters: []Filter{number(AtLeast, 1, "level")}, Limit: rows}
		var page, passing Page
		testkit.Must(t, Scan(seg, &other, &passing))
		for i, c := range seg.Columns() {
			test, passes := randomTest(r, c, fmt.Sprint(i))
			q := Query{Filters: []Filter{{Columns: []string{c.Name}, Op: Tested, Test: test}}, Limit: rows}
			among := []Range{{0, uint32(rows)}}
			if r.IntN(2) == 0 {
				q.Filters, among = append(q.Filters, other.Filters...), passing.Ranges
			}
			var want []uint32
			for _, row := range listRanges(among) {
				at := row
				if c.Group != nil {
					at = uint32(c.Group.Codes.At(row))
				}
				if c.IsNull(at) && test.Null || !c.IsNull(at) && passes(at) {
					want = append(want, row)
				}
			}
			testkit.Must(t, x.Select(&q, &page))
			if got := listRanges(page.Ranges); !slices.Equal(got, want) {
				t.Fatalf("%s of %d rows: %d rows pass, want %d", c.Name, rows, len(got), len(want))
			}
		}
	}
	x := opened(t, randomSegment(t, r, 10), Options{})
	texts := &Test{Text: func(string) bool { return true }}
	wrong := &Query{Filters: []Filter{{Columns: []string{"count"}, Op: Tested, Test: texts}}}
	if err := x.Select(wrong, new(Page)); err == nil {
		t.Error("a test of texts was asked of numbers")
	}
}
