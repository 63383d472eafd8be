package index

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"hdqs/snapshot"
)

// Scan answers a query like Select, row by row and value by value, and shares only types with it.
// It is the meaning of filters, written as plainly as possible.
func Scan(seg *snapshot.Segment, q *Query, p *Page) error {
	p.Ranges, p.Rows, p.Total = p.Ranges[:0], 0, 0
	var tests []func(row uint32) bool
	for i := range q.Filters {
		test, err := scanFilter(seg, &q.Filters[i])
		if err != nil {
			return err
		}
		tests = append(tests, test)
	}
rows:
	for row := range uint32(seg.Rows()) {
		for _, test := range tests {
			if !test(row) {
				continue rows
			}
		}
		p.Total++
		if uint64(p.Total) <= q.Offset || p.Rows >= q.Limit {
			continue
		}
		p.Rows++
		if n := len(p.Ranges); n > 0 && p.Ranges[n-1].To == row {
			p.Ranges[n-1].To++
		} else {
			p.Ranges = append(p.Ranges, Range{row, row + 1})
		}
	}
	return nil
}

// scanFilter returns the test of a row that a filter is.
func scanFilter(seg *snapshot.Segment, f *Filter) (func(row uint32) bool, error) {
	var tests []func(row uint32) bool
	if len(f.Values) > 0 {
		for _, v := range f.Values {
			test, err := scanFilter(seg, &Filter{Columns: f.Columns, Op: f.Op, Value: v})
			if err != nil {
				return nil, err
			}
			tests = append(tests, test)
		}
		return anyOf(tests), nil
	}
	for _, name := range f.Columns {
		col, err := seg.Column(name)
		if err != nil {
			return nil, filterf("%v", err)
		}
		var test func(i uint32) bool
		switch col.Kind {
		case snapshot.Text, snapshot.Enum:
			test = scanText(col, f)
		case snapshot.Decimal:
			test = scanOrder(col, f, func(i uint32) (sign int, ok bool) { return scanDecimal(col, i, &f.Value) })
		default:
			test = scanOrder(col, f, func(i uint32) (sign int, ok bool) { return scanInt(col.Int(i), &f.Value), true })
		}
		if test == nil {
			return nil, filterf("op %d on column %q of kind %d", f.Op, name, col.Kind)
		}
		if g := col.Group; g != nil {
			ofTuple := test
			test = func(row uint32) bool { return ofTuple(uint32(g.Codes.At(row))) }
		}
		tests = append(tests, test)
	}
	if len(tests) == 0 {
		return nil, filterf("no column for op %d", f.Op)
	}
	return anyOf(tests), nil
}

func anyOf(tests []func(row uint32) bool) func(row uint32) bool {
	return func(row uint32) bool {
		for _, test := range tests {
			if test(row) {
				return true
			}
		}
		return false
	}
}

// scanText tests texts with a regular expression. It returns nil for an op that texts do not have.
func scanText(col *snapshot.Column, f *Filter) func(i uint32) bool {
	value := f.Value.Text
	switch {
	case f.Op != Equal && f.Op != Like && f.Op != Contains:
		return nil
	case strings.Contains(value, "\x00"):
		return func(uint32) bool { return false }
	case f.Op == Equal:
		return func(i uint32) bool { return !col.IsNull(i) && col.Text(i) == value }
	}
	expression := likeRegexp(f.Op, value)
	return func(i uint32) bool {
		return !col.IsNull(i) && expression.MatchString(strings.Map(unicode.ToLower, col.Text(i)))
	}
}

// likeRegexp returns the pattern of a Like or Contains filter as a regular expression for
// lower-case text.
func likeRegexp(op Op, pattern string) *regexp.Regexp {
	var b strings.Builder
	escaped := false
	for _, r := range pattern {
		switch {
		case !escaped && r == '\\':
			escaped = true
			continue
		case !escaped && r == '%':
			b.WriteString(".*")
		case !escaped && r == '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(unicode.ToLower(r))))
		}
		escaped = false
	}
	if escaped {
		b.WriteString(`\\`)
	}
	if op == Contains {
		return regexp.MustCompile(`(?s)` + b.String())
	}
	return regexp.MustCompile(`(?s)\A` + b.String() + `\z`)
}

// scanOrder tests numbers by the sign that compare returns; ok is false where there is no order. It
// returns nil for an op that numbers do not have.
func scanOrder(col *snapshot.Column, f *Filter, compare func(i uint32) (sign int, ok bool)) func(i uint32) bool {
	switch f.Op {
	case Equal, AtLeast, Below, AtLeastOrNull:
	default:
		return nil
	}
	return func(i uint32) bool {
		if col.IsNull(i) {
			return f.Op == AtLeastOrNull
		}
		sign, ok := compare(i)
		switch f.Op {
		case Equal:
			return ok && sign == 0
		case Below:
			return !ok || sign < 0
		}
		return ok && sign >= 0
	}
}

func scanInt(have int64, want *Value) int {
	bound := big.NewInt(want.Int)
	if want.Beyond != 0 {
		bound = new(big.Int).Lsh(big.NewInt(int64(want.Beyond)), 64)
	}
	return big.NewInt(have).Cmp(bound)
}

func scanDecimal(col *snapshot.Column, i uint32, want *Value) (sign int, ok bool) {
	text := col.DecString(col.Dec(i))
	if want.Exact != nil {
		have, valid := new(big.Rat).SetString(text)
		return have.Cmp(want.Exact), valid
	}
	// The only error is a text beyond the range of a float64; have is then an infinity.
	have, _ := strconv.ParseFloat(text, 64)
	switch {
	case math.IsNaN(want.Float):
		return 0, false
	case have < want.Float:
		return -1, true
	case have > want.Float:
		return 1, true
	}
	return 0, true
}
