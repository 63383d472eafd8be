package render

import (
	"fmt"
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

// kindNames are the kinds of columns. Wide ones have too many values to be coded.
var kindNames = []string{"text", "enum", "int", "wideInt", "decimal", "wideDecimal", "bool", "time"}

var oddTexts = []string{
	"", "plain", "with, comma", `with "quotes"`, `back\slash`, "line\nfeed", "carriage\rreturn", "tab\there",
	"\b\f\x00\x01\x1f\x7f", "<a href='x'>&amp;</a>", "Ünïcödé", "العربية", "漢字かな交じり文", "😀🎉", "\u2028\u2029",
	" leading and trailing ", "=1+1", "'", `""`, ",", "\r\n", "Ménaka / Kidal – nord",
}

// randomValue returns a non-null value of a kind, one of about spread different values.
func randomValue(r *rand.Rand, kind string, spread int) any {
	switch kind {
	case "text":
		if r.IntN(3) == 0 {
			return oddTexts[r.IntN(len(oddTexts))]
		}
		return "name " + strconv.Itoa(r.IntN(spread))
	case "enum":
		return "value " + strconv.Itoa(r.IntN(5))
	case "int":
		return int64(r.IntN(spread) - spread/3)
	case "wideInt":
		return int64(r.Uint64())>>r.IntN(64) | 1
	case "decimal":
		return decimal(strconv.FormatFloat(float64(r.IntN(spread))/8, 'f', -1, 64))
	case "wideDecimal":
		switch r.IntN(12) {
		case 0:
			return decimal(fmt.Sprintf("%d.%d1", r.Int64(), r.Int64())) // does not fit a Dec
		case 1:
			return decimal(strconv.FormatFloat(r.ExpFloat64()*1e-6, 'f', -1, 64))
		case 2:
			return decimal(strconv.FormatFloat(r.ExpFloat64()*1e19, 'f', -1, 64))
		}
		return decimal(strconv.FormatFloat(r.NormFloat64()*1e5, 'f', r.IntN(9), 64))
	case "bool":
		return r.IntN(2) == 0
	case "time":
		t := micros(r.IntN(spread)) * 86_400_000_000 * 31
		if r.IntN(8) == 0 {
			t += micros(r.IntN(86_400_000_000))
		}
		return t
	}
	panic("unknown kind " + kind)
}

// randomTable returns a table with columns of every kind, in groups and alone, in random order.
func randomTable(t testing.TB, r *rand.Rand, rows int) *table {
	tab := &table{rows: rows, values: map[string][]any{}}
	data := &snapshot.TableData{Name: "random", Rows: rows}
	nulls := r.IntN(3)
	column := func(name, kind string, n int) (snapshot.ColumnData, []any) {
		values := make([]any, n)
		spread := 1 + r.IntN(200)
		for i := range values {
			if nulls == 0 || r.IntN(4*nulls) != 0 {
				values[i] = randomValue(r, kind, spread)
			}
		}
		return columnData(t, name, kind, values), values
	}
	number := 0
	for range r.IntN(4) {
		g := snapshot.GroupData{
			Name: fmt.Sprint("group", len(data.Groups)), Tuples: 1 + r.IntN(300),
			Codes: make([]uint32, rows),
		}
		at, sorted := 0, r.IntN(2) == 0
		for i := range g.Codes {
			switch {
			case !sorted:
				at = r.IntN(g.Tuples)
			case r.IntN(5) == 0 && at+1 < g.Tuples:
				at++
			}
			g.Codes[i] = uint32(at)
		}
		for range 1 + r.IntN(5) {
			name := fmt.Sprint("c", number)
			number++
			c, values := column(name, kindNames[r.IntN(len(kindNames))], g.Tuples)
			g.Columns = append(g.Columns, c)
			for _, code := range g.Codes {
				tab.values[name] = append(tab.values[name], values[code])
			}
			tab.fields = append(tab.fields, Field{Name: name, Column: name})
		}
		data.Groups = append(data.Groups, g)
	}
	for range 1 + r.IntN(6) {
		name := fmt.Sprint("c", number)
		number++
		c, values := column(name, kindNames[r.IntN(len(kindNames))], rows)
		c.Index = r.IntN(3) == 0
		data.Columns = append(data.Columns, c)
		tab.values[name] = values
		tab.fields = append(tab.fields, Field{Name: name, Column: name})
	}
	if r.IntN(2) == 0 {
		r.Shuffle(len(tab.fields), func(i, j int) { tab.fields[i], tab.fields[j] = tab.fields[j], tab.fields[i] })
	}
	if r.IntN(4) == 0 {
		tab.fields[0].Name = `an "odd", name`
	}
	tab.seg = tables.Segment(t, data)
	return tab
}

func columnData(t testing.TB, name, kind string, values []any) snapshot.ColumnData {
	c := snapshot.ColumnData{Name: name}
	known := map[string]uint32{}
	text := func(v any) {
		if v == nil {
			c.Codes = append(c.Codes, snapshot.NullCode)
			return
		}
		s := v.(string)
		code, ok := known[s]
		if !ok {
			code = uint32(len(c.Values))
			known[s] = code
			c.Values = append(c.Values, s)
		}
		c.Codes = append(c.Codes, code)
	}
	ints := func(v any) {
		n := int64(snapshot.NullInt)
		switch v := v.(type) {
		case int64:
			n = v
		case micros:
			n = int64(v)
		case bool:
			n = 0
			if v {
				n = 1
			}
		}
		c.Ints = append(c.Ints, n)
	}
	switch kind {
	case "text":
		c.Kind = snapshot.Text
	case "enum":
		c.Kind = snapshot.Enum
		for i := range uint32(5) {
			c.Values = append(c.Values, fmt.Sprint("value ", i))
			known[c.Values[i]] = i
		}
	case "int", "wideInt":
		c.Kind = snapshot.Int
	case "bool":
		c.Kind = snapshot.Bool
	case "time":
		c.Kind = snapshot.Time
	default:
		c.Kind = snapshot.Decimal
	}
	for _, v := range values {
		switch c.Kind {
		case snapshot.Text, snapshot.Enum:
			text(v)
		case snapshot.Decimal:
			appendDecimalData(t, &c, known, v)
		default:
			ints(v)
		}
	}
	return c
}

func appendDecimalData(t testing.TB, c *snapshot.ColumnData, known map[string]uint32, v any) {
	d := snapshot.Dec{Scale: snapshot.DecNull}
	if v != nil {
		var fits bool
		if d, fits = snapshot.ParseDec(string(v.(decimal))); !fits {
			plain, ok := snapshot.PlainDecimal(string(v.(decimal)))
			if !ok {
				t.Fatalf("%v is not a decimal", v)
			}
			code, ok := known[plain]
			if !ok {
				code = uint32(len(c.Texts))
				known[plain] = code
				c.Texts = append(c.Texts, plain)
			}
			d = snapshot.Dec{Mantissa: int64(code), Scale: snapshot.DecText}
		}
	}
	c.Decimals = append(c.Decimals, d)
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
