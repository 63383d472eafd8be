package render

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"hdqs/index"
	"hdqs/internal/tables"
	"hdqs/snapshot"
)

// table is a random table with its values beside the segment, so that tests compare what is
// rendered with what was put in, not with what the segment returns. A value is nil, string, int64,
// bool, micros or decimal.
type table struct {
	seg    *snapshot.Segment
	fields []Field
	values map[string][]any // by column, one for each row
	rows   int
	alone  bool // a subset of one field, of which CSV quotes empty ones
}

type micros int64

type decimal string // exact text

var oddTexts = []string{
	"", "plain", "with, comma", `with "quotes"`, `back\slash`, "line\nfeed", "carriage\rreturn", "tab\there",
	"\b\f\x00\x01\x1f\x7f", "<a href='x'>&amp;</a>", "Ünïcödé", "العربية", "漢字かな交じり文", "😀🎉", "\u2028\u2029",
	" leading and trailing ", "=1+1", "'", `""`, ",", "\r\n", "Ménaka / Kidal – nord",
}

// randomTable returns a table with some columns of every kind, in groups and alone, in random
// order.
func randomTable(t testing.TB, r *rand.Rand, rows int) *table {
	text := func() string {
		if r.IntN(3) == 0 {
			return oddTexts[r.IntN(len(oddTexts))]
		}
		return "name " + strconv.Itoa(r.IntN(200))
	}
	data := tables.Random(r, rows, text, []string{"sorted", "clustered", "scattered"}[:r.IntN(4)]...)
	some := func(columns []snapshot.ColumnData) []snapshot.ColumnData {
		r.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
		return columns[:1+r.IntN(6)]
	}
	for i := range data.Groups {
		data.Groups[i].Columns = some(data.Groups[i].Columns)
	}
	data.Columns = some(data.Columns)
	tab := newTable(t, data)
	if r.IntN(2) == 0 {
		r.Shuffle(len(tab.fields), func(i, j int) { tab.fields[i], tab.fields[j] = tab.fields[j], tab.fields[i] })
	}
	if r.IntN(4) == 0 {
		tab.fields[0].Name = `an "odd", name`
	}
	return tab
}

// newTable writes a table, of which each column is a field.
func newTable(t testing.TB, data *snapshot.TableData) *table {
	tab := &table{rows: data.Rows, values: map[string][]any{}, seg: tables.Segment(t, data)}
	add := func(columns []snapshot.ColumnData, at func(row int) int) {
		for i := range columns {
			c := &columns[i]
			for row := range data.Rows {
				tab.values[c.Name] = append(tab.values[c.Name], valueOf(c, at(row)))
			}
			tab.fields = append(tab.fields, Field{Name: c.Name, Column: c.Name})
		}
	}
	for _, g := range data.Groups {
		add(g.Columns, func(row int) int { return int(g.Codes[row]) })
	}
	add(data.Columns, func(row int) int { return row })
	return tab
}

// valueOf is a value of a column.
func valueOf(c *snapshot.ColumnData, at int) any {
	switch c.Kind {
	case snapshot.Text, snapshot.Enum:
		if c.Codes[at] != snapshot.NullCode {
			return c.Values[c.Codes[at]]
		}
	case snapshot.Decimal:
		switch d := c.Decimals[at]; d.Scale {
		case snapshot.DecNull:
		case snapshot.DecText:
			return decimal(c.Texts[d.Mantissa])
		default:
			return decimal(d.String())
		}
	default:
		switch n := c.Ints[at]; {
		case n == snapshot.NullInt:
		case c.Kind == snapshot.Bool:
			return n == 1
		case c.Kind == snapshot.Time:
			return micros(n)
		default:
			return n
		}
	}
	return nil
}

// randomRanges returns ascending ranges of rows that do not touch.
func randomRanges(r *rand.Rand, rows int) []index.Range {
	var ranges []index.Range
	gap, length := 1+r.IntN(50), 1+r.IntN(1+r.IntN(200))
	for at := r.IntN(gap + 1); at < rows; {
		to := min(at+1+r.IntN(length), rows)
		ranges = append(ranges, index.Range{From: uint32(at), To: uint32(to)})
		at = to + 1 + r.IntN(gap)
	}
	return ranges
}
