package aggregate

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hdqs/index"
	"hdqs/snapshot"
)

// generate makes a table of every kind of column, of rows and of groups, with and without nulls,
// order and dictionaries.
func generate(r *rand.Rand, rows int) *snapshot.TableData {
	t := &snapshot.TableData{Name: "random", Rows: rows}
	for i, name := range []string{"sorted", "clustered", "scattered"} {
		tuples := 1 + r.IntN([]int{3, 60, 700, 1 + rows}[r.IntN(4)])
		g := snapshot.GroupData{Name: name, Tuples: tuples, Codes: randomCodes(r, rows, tuples, i)}
		for _, c := range randomColumns(r, tuples) {
			c.Name, c.Index = name+"_"+c.Name, false
			g.Columns = append(g.Columns, c)
		}
		t.Groups = append(t.Groups, g)
	}
	t.Columns = randomColumns(r, rows)
	return t
}

// randomCodes draws n codes below distinct: ascending (order 0), in runs (1), or random (2).
func randomCodes(r *rand.Rand, n, distinct, order int) []uint32 {
	codes := make([]uint32, n)
	code := uint32(r.IntN(distinct))
	for i := range codes {
		switch order {
		case 0:
			code = uint32(i * distinct / n)
		case 1:
			if r.IntN(1+n/100) == 0 {
				code = uint32(r.IntN(distinct))
			}
		default:
			code = uint32(min(r.IntN(distinct), r.IntN(distinct)))
		}
		codes[i] = code
	}
	return codes
}

func randomColumns(r *rand.Rand, n int) []snapshot.ColumnData {
	var columns []snapshot.ColumnData
	add := func(name string, c snapshot.ColumnData) {
		c.Name, c.Index = name, r.IntN(3) > 0
		columns = append(columns, c)
	}
	for i := range 3 {
		texts := make([]string, 1+r.IntN([]int{2, 20, 300}[r.IntN(3)]))
		for k := range texts {
			texts[k] = fmt.Sprintf("%s%d", []string{"", "Zoë ", "日本", "a,\"b\""}[r.IntN(4)], k)
		}
		kind := snapshot.Text
		if i == 2 {
			kind = snapshot.Enum
			texts = texts[:min(len(texts), 8)]
		}
		codes := randomCodes(r, n, len(texts), r.IntN(3))
		for k := range codes {
			if i == 1 && r.IntN(6) == 0 {
				codes[k] = snapshot.NullCode
			}
		}
		add(fmt.Sprint("text", i), snapshot.ColumnData{Kind: kind, Codes: codes, Values: texts})
	}
	const day = 86_400_000_000
	for _, c := range []struct {
		name        string
		kind        snapshot.Kind
		least, most int64
		nulls       bool
	}{
		{name: "level", kind: snapshot.Int, most: 3},
		{name: "count", kind: snapshot.Int, least: -500, most: 1 << 20, nulls: r.IntN(2) == 0},
		{name: "huge", kind: snapshot.Int, least: math.MinInt64 + 1, most: math.MaxInt64, nulls: r.IntN(2) == 0},
		{name: "large", kind: snapshot.Int, least: math.MaxInt64 - 5, most: math.MaxInt64, nulls: r.IntN(2) == 0},
		{name: "flag", kind: snapshot.Bool, most: 1, nulls: r.IntN(2) == 0},
		{name: "start", kind: snapshot.Time, least: -800, most: 800, nulls: r.IntN(4) == 0},
		{name: "end", kind: snapshot.Time, least: -800, most: []int64{-700, 20_000}[r.IntN(2)], nulls: r.IntN(2) == 0},
	} {
		ints := make([]int64, n)
		for i := range ints {
			ints[i] = c.least + int64(r.Uint64N(uint64(c.most)-uint64(c.least)+1))
			if c.kind == snapshot.Time {
				ints[i] = ints[i]*day + []int64{0, 0, day - 1, 43_200_000_000}[r.IntN(4)]
			}
			if c.nulls && r.IntN(5) == 0 {
				ints[i] = snapshot.NullInt
			}
		}
		add(c.name, snapshot.ColumnData{Kind: c.kind, Ints: ints})
	}
	for i := range 4 {
		add(fmt.Sprint("decimal", i), randomDecimals(r, n, i))
	}
	return columns
}

// randomDecimals have one scale, many scales, exact texts, or any size, by variety.
func randomDecimals(r *rand.Rand, n, variety int) snapshot.ColumnData {
	c := snapshot.ColumnData{Kind: snapshot.Decimal, Decimals: make([]snapshot.Dec, n)}
	nulls := r.IntN(2) == 0
	known := map[string]int{}
	for i := range c.Decimals {
		text := fmt.Sprintf("%d.%02d", r.IntN(2000)-1000, r.IntN(100))
		switch {
		case variety == 1:
			text = fmt.Sprintf("%de-%d", r.IntN(2_000_000)-1_000_000, r.IntN(9))
		case variety == 2 && r.IntN(8) == 0:
			text = fmt.Sprintf("%d.%s%d", r.IntN(5)-2, strings.Repeat("0", r.IntN(30)), 1+r.IntN(1000))
		case variety == 2 && r.IntN(20) == 0:
			text = fmt.Sprintf("%d%s.5", r.IntN(5)-2, strings.Repeat("7", r.IntN(400)))
		case variety == 3:
			text = fmt.Sprintf("%de-%d", r.Int64()-math.MaxInt64/2, r.IntN(19))
		}
		switch d, fits := snapshot.ParseDec(text); {
		case nulls && r.IntN(8) == 0:
			c.Decimals[i] = snapshot.Dec{Scale: snapshot.DecNull}
		case fits:
			c.Decimals[i] = d
		default:
			plain, ok := snapshot.PlainDecimal(text)
			if !ok {
				panic("not a number: " + text)
			}
			if _, is := known[plain]; !is {
				known[plain] = len(c.Texts)
				c.Texts = append(c.Texts, plain)
			}
			c.Decimals[i] = snapshot.Dec{Mantissa: int64(known[plain]), Scale: snapshot.DecText}
		}
	}
	return c
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
