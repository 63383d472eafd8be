package index

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hdqs/snapshot"
)

// randomTable has every kind of column, in groups and outside, with and without nulls, postings and
// order.
type randomTable struct {
	r    *rand.Rand
	rows int
	data *snapshot.TableData
}

func newRandomTable(r *rand.Rand, rows int) *randomTable {
	t := &randomTable{r: r, rows: rows, data: &snapshot.TableData{Name: "random", Rows: rows}}
	// Codes of groups: in order, in runs, or random.
	for i, name := range []string{"sorted", "clustered", "scattered"} {
		tuples := 1 + r.IntN([]int{3, 60, 700, 1 + rows/4}[r.IntN(4)])
		g := snapshot.GroupData{Name: name, Tuples: tuples, Codes: t.codes(rows, tuples, i)}
		g.Columns = t.columns(name+"_", tuples, false)
		t.data.Groups = append(t.data.Groups, g)
	}
	t.data.Columns = t.columns("", rows, true)
	return t
}

// codes draws n codes below distinct: ascending (order 0), in runs (1), or random (2).
func (t *randomTable) codes(n, distinct, order int) []uint32 {
	codes := make([]uint32, n)
	code := uint32(t.r.IntN(distinct))
	for i := range codes {
		switch order {
		case 0:
			code = uint32(i * distinct / n)
		case 1:
			if t.r.IntN(1+n/500) == 0 {
				code = uint32(t.r.IntN(distinct))
			}
		default:
			code = uint32(min(t.r.IntN(distinct), t.r.IntN(distinct)))
		}
		codes[i] = code
	}
	return codes
}

// columns makes the columns of n rows or tuples.
func (t *randomTable) columns(prefix string, n int, rows bool) []snapshot.ColumnData {
	var columns []snapshot.ColumnData
	add := func(name string, c snapshot.ColumnData) {
		c.Name = prefix + name
		c.Index = rows && c.Index
		columns = append(columns, c)
	}
	for i := range 3 {
		texts := t.distinctTexts(1 + t.r.IntN(300))
		add(fmt.Sprint("text", i), snapshot.ColumnData{
			Kind: snapshot.Text, Codes: t.withNulls(t.codes(n, len(texts), i)), Values: texts, Index: t.r.IntN(3) > 0,
		})
	}
	texts := t.distinctTexts(1 + t.r.IntN(8))
	add("enum", snapshot.ColumnData{
		Kind: snapshot.Enum, Codes: t.withNulls(t.codes(n, len(texts), t.r.IntN(3))),
		Values: texts, Index: true,
	})
	for _, c := range []struct {
		name   string
		kind   snapshot.Kind
		spread int64
	}{
		{"level", snapshot.Int, 3},
		{"count", snapshot.Int, 1 << 20},
		{"big", snapshot.Int, math.MaxInt64},
		{"flag", snapshot.Bool, 2},
		{"time", snapshot.Time, 90},
	} {
		add(c.name, snapshot.ColumnData{Kind: c.kind, Ints: t.ints(n, c.spread, c.kind), Index: t.r.IntN(2) == 0})
	}
	for i := range 3 {
		c := t.decimals(n, i)
		c.Index = t.r.IntN(2) == 0
		add(fmt.Sprint("decimal", i), c)
	}
	return columns
}

func (t *randomTable) distinctTexts(n int) []string {
	seen := make(map[string]bool)
	var texts []string
	for range n {
		text := randomText(t.r, textLetters, 8)
		if !seen[text] {
			seen[text] = true
			texts = append(texts, text)
		}
	}
	return texts
}

func (t *randomTable) withNulls(codes []uint32) []uint32 {
	if t.r.IntN(2) == 0 {
		for i := range codes {
			if t.r.IntN(10) == 0 {
				codes[i] = snapshot.NullCode
			}
		}
	}
	return codes
}

func (t *randomTable) ints(n int, spread int64, kind snapshot.Kind) []int64 {
	ints := make([]int64, n)
	nulls, negative := t.r.IntN(2) == 0, kind != snapshot.Bool && t.r.IntN(2) == 0
	for i := range ints {
		ints[i] = t.r.Int64N(spread)
		if negative {
			ints[i] -= spread / 2
		}
		if nulls && t.r.IntN(10) == 0 {
			ints[i] = snapshot.NullInt
		}
	}
	return ints
}

// decimals have one scale, mixed scales with exact texts, or any size, by variety.
func (t *randomTable) decimals(n, variety int) snapshot.ColumnData {
	c := snapshot.ColumnData{Kind: snapshot.Decimal, Decimals: make([]snapshot.Dec, n)}
	nulls := t.r.IntN(2) == 0
	for i := range c.Decimals {
		mantissa, scale := t.r.Int64N(2_000_000)-1_000_000, 2
		switch variety {
		case 1:
			scale = t.r.IntN(5)
		case 2:
			mantissa, scale = t.r.Int64()-math.MaxInt64/2, t.r.IntN(snapshot.MaxScale)
		}
		text := new(big.Rat).SetFrac(big.NewInt(mantissa),
			new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).FloatString(scale)
		if variety == 1 && t.r.IntN(20) == 0 {
			text = fmt.Sprintf("%d.1234567890123456789%d", t.r.IntN(9)-4, 1+t.r.IntN(9))
		}
		d, ok := snapshot.ParseDec(text)
		if !ok {
			plain, number := snapshot.PlainDecimal(text)
			if !number {
				panic("not a number: " + text)
			}
			d = snapshot.Dec{Mantissa: int64(len(c.Texts)), Scale: snapshot.DecText}
			for k, have := range c.Texts {
				if have == plain {
					d.Mantissa = int64(k)
				}
			}
			if d.Mantissa == int64(len(c.Texts)) && len(c.Texts) < 200 {
				c.Texts = append(c.Texts, plain)
			} else if d.Mantissa == int64(len(c.Texts)) {
				d = snapshot.Dec{}
			}
		}
		if nulls && t.r.IntN(10) == 0 {
			d = snapshot.Dec{Scale: snapshot.DecNull}
		}
		c.Decimals[i] = d
	}
	return c
}

// segment writes the table and opens it.
func (t *randomTable) segment(tb testing.TB) *snapshot.Segment {
	tb.Helper()
	return segmentOf(tb, t.data)
}

func segmentOf(tb testing.TB, data *snapshot.TableData) *snapshot.Segment {
	tb.Helper()
	var buf bytes.Buffer
	if err := snapshot.WriteSegment(&buf, data); err != nil {
		tb.Fatal(err)
	}
	seg, err := snapshot.ReadSegment(buf.Bytes())
	if err != nil {
		tb.Fatal(err)
	}
	return seg
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
