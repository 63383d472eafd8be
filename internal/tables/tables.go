// Package tables makes random tables for the tests of packages that read segments.
package tables

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hdqs/snapshot"
)

// Random is a table with every kind of column, of rows and of up to three groups, with and without
// nulls, postings, order and dictionaries. Columns of a group have its name before theirs. The rows
// of a tuple follow each other in the first group, lie in runs in the second and anywhere in the
// third. text draws a text, of which a column has each once.
func Random(r *rand.Rand, rows int, text func() string, groups ...string) *snapshot.TableData {
	t := &snapshot.TableData{Name: "random", Rows: rows, Columns: Columns(r, rows, text)}
	for i, name := range groups {
		tuples := 1 + r.IntN([]int{3, 60, 700, 1 + rows/2}[r.IntN(4)])
		t.Groups = append(t.Groups, Group(r, name, tuples, Codes(r, rows, tuples, i), text))
	}
	return t
}

// Group is a group with random columns.
func Group(r *rand.Rand, name string, tuples int, codes []uint32, text func() string) snapshot.GroupData {
	g := snapshot.GroupData{Name: name, Tuples: tuples, Codes: codes, Columns: Columns(r, tuples, text)}
	for i := range g.Columns {
		c := &g.Columns[i]
		c.Name, c.Index = name+"_"+c.Name, false
	}
	return g
}

// Codes draws n codes below distinct: ascending (order 0), in runs (1), or random (2).
func Codes(r *rand.Rand, n, distinct, order int) []uint32 {
	codes := make([]uint32, n)
	code := uint32(r.IntN(distinct))
	for i := range codes {
		switch order {
		case 0:
			code = uint32(i * distinct / n)
		case 1:
			if r.IntN(1+n/[]int{100, 500}[distinct%2]) == 0 {
				code = uint32(r.IntN(distinct))
			}
		default:
			code = uint32(min(r.IntN(distinct), r.IntN(distinct)))
		}
		codes[i] = code
	}
	return codes
}

// Columns are columns of every kind, of n rows or tuples.
func Columns(r *rand.Rand, n int, text func() string) (columns []snapshot.ColumnData) {
	add := func(name string, c snapshot.ColumnData) {
		c.Name, c.Index = name, r.IntN(3) > 0 && !strings.HasPrefix(name, "plain")
		columns = append(columns, c)
	}
	for i := range 3 {
		add(fmt.Sprint("text", i), randomTexts(r, snapshot.Text, n, []int{2, 20, 300}[r.IntN(3)], i, text))
	}
	add("enum", randomTexts(r, snapshot.Enum, n, 8, r.IntN(3), text))
	const day = 86_400_000_000
	days := []int64{20, 800}[r.IntN(2)]
	for _, c := range []struct {
		name        string
		kind        snapshot.Kind
		least, most int64
	}{
		{"level", snapshot.Int, 0, 3},
		{"count", snapshot.Int, -500, 1 << 19},
		{"plain", snapshot.Int, -1 << 40, 1 << 40}, // in large tables without a dictionary
		{"big", snapshot.Int, math.MinInt64 + 1, math.MaxInt64},
		{"large", snapshot.Int, math.MaxInt64 - 5, math.MaxInt64},
		{"flag", snapshot.Bool, 0, 1},
		{"start", snapshot.Time, -days, days},
		{"end", snapshot.Time, -days, []int64{-days + 10, 20_000}[r.IntN(2)]},
	} {
		ints, nulls := make([]int64, n), r.IntN(2) == 0
		for i := range ints {
			ints[i] = c.least + int64(r.Uint64N(uint64(c.most)-uint64(c.least)+1))
			if c.kind == snapshot.Time {
				ints[i] = ints[i]*day + []int64{0, 0, 0, day - 1, day / 2}[r.IntN(5)]
			}
			if nulls && r.IntN(6) == 0 {
				ints[i] = snapshot.NullInt
			}
		}
		add(c.name, snapshot.ColumnData{Kind: c.kind, Ints: ints})
	}
	for i := range 4 {
		add(fmt.Sprint("decimal", i), randomDecimals(r, n, i))
	}
	add("plain_decimal", randomDecimals(r, n, 1))
	return columns
}

func randomTexts(r *rand.Rand, kind snapshot.Kind, n, most, order int, text func() string) snapshot.ColumnData {
	c := snapshot.ColumnData{Kind: kind}
	seen := map[string]bool{}
	for range 1 + r.IntN(most) {
		if one := text(); !seen[one] {
			seen[one] = true
			c.Values = append(c.Values, one)
		}
	}
	c.Codes = Codes(r, n, len(c.Values), order)
	if r.IntN(2) == 0 {
		for i := range c.Codes {
			if r.IntN(8) == 0 {
				c.Codes[i] = snapshot.NullCode
			}
		}
	}
	return c
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
		case variety == 2 && len(known) < 200 && r.IntN(8) == 0:
			text = fmt.Sprintf("%d.%s%d", r.IntN(5)-2, strings.Repeat("0", r.IntN(30)), 1+r.IntN(1000))
		case variety == 2 && len(known) < 200 && r.IntN(20) == 0:
			text = fmt.Sprintf("%d%s.5", r.IntN(5)-2, strings.Repeat("7", r.IntN(300)))
		case variety == 3:
			text = fmt.Sprintf("%de-%d", r.Int64()-math.MaxInt64/2, r.IntN(snapshot.MaxScale+1))
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

// Segment writes a table and reads it.
func Segment(tb testing.TB, data *snapshot.TableData) *snapshot.Segment {
	tb.Helper()
	var file bytes.Buffer
	if err := snapshot.WriteSegment(&file, data); err != nil {
		tb.Fatal(err)
	}
	seg, err := snapshot.ReadSegment(file.Bytes())
	if err != nil {
		tb.Fatal(err)
	}
	return seg
}

// Wide is a table whose segment is large enough for a delta. The first value is seed.
func Wide(name string, seed int64) *snapshot.TableData {
	ints := make([]int64, 20_000)
	for i := range ints {
		ints[i] = int64(i * i * 7919 % 1_000_003)
	}
	ints[0] = seed
	return &snapshot.TableData{Name: name, Rows: len(ints), Columns: []snapshot.ColumnData{
		{Name: "n", Kind: snapshot.Int, Ints: ints}, {Name: "m", Kind: snapshot.Int, Ints: ints},
	}}
}
