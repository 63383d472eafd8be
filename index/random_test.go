package index

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// opened is the index of a segment.
func opened(tb testing.TB, seg *snapshot.Segment, o Options) *Index {
	tb.Helper()
	x, err := Open(seg, o)
	testkit.Must(tb, err)
	return x
}

// randomSegment has texts of few characters, so that patterns match often.
func randomSegment(tb testing.TB, r *rand.Rand, rows int) *snapshot.Segment {
	tb.Helper()
	text := func() string { return randomText(r, textLetters, 8) }
	return tables.Segment(tb, tables.Random(r, rows, text, "sorted", "clustered", "scattered"))
}

// randomQuery has up to five filters, with values that occur, nearly occur or cannot occur.
func randomQuery(r *rand.Rand, seg *snapshot.Segment) *Query {
	q := &Query{Limit: r.IntN(300), Offset: uint64(r.IntN(500))}
	switch r.IntN(8) {
	case 0:
		q.Limit = 0
	case 1:
		q.Offset = math.MaxUint64 - uint64(r.IntN(3))
	case 2, 3:
		q.Limit, q.Offset = 100_000, uint64(r.IntN(seg.Rows()+10))
	case 4:
		q.Offset = 0
	}
	for range r.IntN(5) {
		f := randomFilter(r, seg)
		if r.IntN(4) == 0 {
			f.Values = randomValues(r, seg, &f)
		}
		q.Filters = append(q.Filters, f)
		if f.Op == AtLeast && r.IntN(2) == 0 { // and an upper bound
			for range 30 {
				if other := randomFilter(r, seg); other.Op == Below && slices.Equal(other.Columns, f.Columns) {
					q.Filters = append(q.Filters, other)
				}
			}
		}
	}
	return q
}

// randomValues draws several values for a filter: its own, and others that suit its columns and op.
func randomValues(r *rand.Rand, seg *snapshot.Segment, f *Filter) []Value {
	values := []Value{f.Value}
	for range []int{1, 5, 30, 200}[r.IntN(4)] {
		other := *f
		for range 30 {
			drawn := randomFilter(r, seg)
			if drawn.Op == f.Op && slices.Contains(f.Columns, drawn.Columns[0]) {
				other = drawn
				break
			}
		}
		values = append(values, other.Value)
	}
	return values
}

func randomFilter(r *rand.Rand, seg *snapshot.Segment) Filter {
	columns := seg.Columns()
	col := columns[r.IntN(len(columns))]
	f := Filter{Columns: []string{col.Name}}
	textual := func(c *snapshot.Column) bool { return c.Kind == snapshot.Text || c.Kind == snapshot.Enum }
	if r.IntN(4) == 0 {
		for range r.IntN(3) {
			other := columns[r.IntN(len(columns))]
			if textual(other) == textual(col) && (other.Kind == snapshot.Decimal) == (col.Kind == snapshot.Decimal) {
				f.Columns = append(f.Columns, other.Name)
			}
		}
	}
	at := uint32(0)
	if col.Len() > 0 {
		at = uint32(r.IntN(col.Len()))
	}
	switch {
	case textual(col):
		f.Op = []Op{Equal, Like, Contains}[r.IntN(3)]
		if col.Len() > 0 {
			f.Value.Text = col.Text(at)
		}
		if runes := []rune(f.Value.Text); len(runes) > 0 && r.IntN(2) == 0 {
			// A part of a text that occurs, in another case, perhaps with a wildcard.
			from := r.IntN(len(runes))
			runes = runes[from : from+1+r.IntN(len(runes)-from)]
			if r.IntN(3) == 0 {
				runes[r.IntN(len(runes))] = '_'
			}
			f.Value.Text = strings.ToUpper(string(runes))
			if f.Op == Like && r.IntN(2) == 0 {
				f.Value.Text = "%" + f.Value.Text + "%"
			}
		} else if r.IntN(2) == 0 || f.Op != Equal && r.IntN(2) == 0 {
			f.Value.Text = randomText(r, patternLetters, 4)
		}
		if r.IntN(50) == 0 {
			f.Value.Text += "\x00"
		}
	case col.Kind == snapshot.Decimal:
		f.Op = []Op{Equal, AtLeast, Below, AtLeastOrNull}[r.IntN(4)]
		f.Value = randomDecimal(r, col, at)
	default:
		f.Op = []Op{Equal, AtLeast, Below, AtLeastOrNull}[r.IntN(4)]
		if col.Len() > 0 {
			f.Value.Int = col.Int(at)
		}
		switch r.IntN(10) {
		case 0:
			f.Value.Beyond = int8(r.IntN(3) - 1)
		case 1:
			f.Value.Int = []int64{0, math.MinInt64, math.MaxInt64, -1}[r.IntN(4)]
		case 2:
			f.Value.Int += int64(r.IntN(3) - 1)
		}
	}
	return f
}

func randomDecimal(r *rand.Rand, col *snapshot.Column, at uint32) (v Value) {
	exact := new(big.Rat)
	if col.Len() > 0 && !col.IsNull(at) {
		exact.SetString(col.DecString(col.Dec(at)))
	}
	if r.IntN(4) == 0 {
		exact.Add(exact, big.NewRat(int64(r.IntN(3)-1), 1_000_000_000_000))
	}
	if r.IntN(2) == 0 {
		if r.IntN(20) == 0 {
			exact.SetString([]string{"1e40", "-1e40", "1e-40", "0"}[r.IntN(4)])
		}
		v.Exact = exact
		return v
	}
	v.Float, _ = exact.Float64()
	switch r.IntN(12) {
	case 0:
		v.Float = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)}[r.IntN(5)]
	case 1:
		v.Float = math.Nextafter(v.Float, math.Inf(r.IntN(2)*2-1))
	}
	return v
}

// describe prints a query so that a failure can be repeated.
func describe(q *Query) string {
	text := fmt.Sprintf("offset %d limit %d", q.Offset, q.Limit)
	for _, f := range q.Filters {
		v := f.Value
		text += fmt.Sprintf("; %v op %d text %q int %d beyond %d float %v exact %v", f.Columns, f.Op, v.Text, v.Int,
			v.Beyond, v.Float, v.Exact)
		if len(f.Values) > 0 {
			text += fmt.Sprintf(" in place of it any of %+v", f.Values)
		}
	}
	return text
}

func listRanges(ranges []Range) []uint32 {
	var rows []uint32
	for _, r := range ranges {
		for row := r.From; row < r.To; row++ {
			rows = append(rows, row)
		}
	}
	return rows
}

// randomText draws from few characters, so that patterns match often. Some take more than a byte,
// or another number of bytes in lower case.
func randomText(r *rand.Rand, letters string, longest int) string {
	runes := []rune(letters)
	var b strings.Builder
	for range r.IntN(longest + 1) {
		b.WriteRune(runes[r.IntN(len(runes))])
	}
	return b.String()
}

// compare runs Scan and Select and returns a difference as an error.
func compare(x *Index, seg *snapshot.Segment, q *Query, got, want *Page) error {
	if err := Scan(seg, q, want); err != nil {
		return fmt.Errorf("scan: %w: %s", err, describe(q))
	}
	if err := x.Select(q, got); err != nil {
		return fmt.Errorf("select: %w: %s", err, describe(q))
	}
	if got.Total != want.Total || got.Rows != want.Rows || !slices.Equal(got.Ranges, want.Ranges) {
		return fmt.Errorf("total %d rows %d ranges %.120s, want %d, %d, %.120s: %s", got.Total, got.Rows,
			fmt.Sprint(got.Ranges),
			want.Total, want.Rows, fmt.Sprint(want.Ranges), describe(q))
	}
	return nil
}

func text(op Op, value string, columns ...string) Filter {
	return Filter{Columns: columns, Op: op, Value: Value{Text: value}}
}

func number(op Op, value int64, columns ...string) Filter {
	return Filter{Columns: columns, Op: op, Value: Value{Int: value}}
}

const (
	textLetters    = "abAB éÉ語İ\\%_"
	patternLetters = "abAB éÉ語i\\\\%%__"
)
