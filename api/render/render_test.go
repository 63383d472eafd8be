package render

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"hdqs/api/encode"
	"hdqs/index"
	"hdqs/internal/cache"
	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// newRenderer renders fields of a segment.
func newRenderer(tb testing.TB, seg *snapshot.Segment, fields []Field, o encode.Options) *Renderer {
	tb.Helper()
	return testkit.Value(New(seg, fields, o))(tb)
}

// naiveJSON writes records value by value, following the contract literally.
func naiveJSON(tab *table, ranges []index.Range) string {
	return `{"data":[` + strings.Join(naiveRecords(tab, ranges), ",") + `]}`
}

// naiveLines writes records as NDJSON.
func naiveLines(tab *table, ranges []index.Range) string {
	return strings.Join(append(naiveRecords(tab, ranges), ""), "\n")
}

func naiveRecords(tab *table, ranges []index.Range) (records []string) {
	for _, rng := range ranges {
		for row := rng.From; row < rng.To; row++ {
			var pairs []string
			for _, f := range tab.fields {
				pairs = append(pairs, naiveQuote(f.Name)+":"+naiveJSONValue(tab.values[f.Column][row]))
			}
			records = append(records, "{"+strings.Join(pairs, ",")+"}")
		}
	}
	return records
}

func naiveJSONValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return naiveQuote(v)
	case micros:
		return naiveQuote(strings.Replace(naiveTime(v), " ", "T", 1))
	case bool:
		return strconv.FormatBool(v)
	}
	return naiveNumber(v)
}

func naiveNumber(v any) string {
	if n, ok := v.(int64); ok {
		return strconv.FormatInt(n, 10)
	}
	f, err := strconv.ParseFloat(string(v.(decimal)), 64)
	if err != nil {
		panic(err)
	}
	if f == 0 {
		f = 0 // the exact zero has no sign
	}
	return pythonRepr(f)
}

func naiveTime(v micros) string {
	t := time.Unix(0, 0).UTC().Add(time.Duration(v) * time.Microsecond)
	if v%1_000_000 != 0 {
		return t.Format("2006-01-02 15:04:05.000000")
	}
	return t.Format("2006-01-02 15:04:05")
}

func naiveQuote(s string) string {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}
	var b strings.Builder
	for _, c := range s {
		switch {
		case short[c] != "":
			b.WriteString(short[c])
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	return `"` + b.String() + `"`
}

func naiveCSV(tab *table, ranges []index.Range) string {
	var b strings.Builder
	line := func(values []string) {
		for i, v := range values {
			if strings.ContainsAny(v, ",\"\r\n") || tab.alone && v == "" {
				values[i] = `"` + strings.ReplaceAll(v, `"`, `""`) + `"`
			}
		}
		b.WriteString(strings.Join(values, ",") + "\r\n")
	}
	var header []string
	for _, f := range tab.fields {
		header = append(header, f.Name)
	}
	line(header)
	for _, rng := range ranges {
		for row := rng.From; row < rng.To; row++ {
			var values []string
			for _, f := range tab.fields {
				values = append(values, naiveCSVValue(tab.values[f.Column][row]))
			}
			line(values)
		}
	}
	return b.String()
}

func naiveCSVValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case micros:
		return naiveTime(v)
	case bool:
		if v {
			return "True"
		}
		return "False"
	}
	return naiveNumber(v)
}

// checkCoded decodes a body in each coding and compares it with the plain body.
func checkCoded(t *testing.T, f *Form, ranges []index.Range, want string) {
	t.Helper()
	for _, coding := range []encode.Coding{encode.Gzip, encode.Zstd} {
		in := bytes.NewReader(f.AppendCoded(nil, coding, ranges))
		var out io.Reader
		var err error
		if coding == encode.Gzip {
			out, err = gzip.NewReader(in)
		} else {
			out, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1))
		}
		testkit.Must(t, err)
		plain := testkit.Value(io.ReadAll(out))(t)
		if got := string(plain); got != want {
			t.Fatalf("%v of %v:\n got %s\nwant %s", coding, ranges, difference(got, want), difference(want, got))
		}
	}
}

// difference returns s around the first byte at which it differs from other.
func difference(s, other string) string {
	i := 0
	for i < len(s) && i < len(other) && s[i] == other[i] {
		i++
	}
	return fmt.Sprintf("... %q (at %d of %d)", s[max(0, i-60):min(len(s), i+60)], i, len(s))
}

// TestConcurrentUse renders and measures from several goroutines while fragments, blocks and
// lengths are being built and given up.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	tab := randomTable(t, r, 5000)
	whole := []index.Range{{From: 0, To: 5000}}
	want := naiveJSON(tab, whole)
	var scattered []index.Range
	for at := uint32(0); at < 300; at += 3 {
		scattered = append(scattered, index.Range{From: at, To: at + 1})
	}
	length := len(naiveJSON(tab, scattered))
	rounds := 10
	if testing.Short() {
		rounds = 3
	}
	for range rounds {
		render := newRenderer(t, tab.seg, tab.fields, encode.Options{})
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				testkit.Equal(t, string(render.JSON().Append(nil, whole)), want, "bodies differ")
				testkit.Equal(t, render.JSON().Length(scattered), length, "Length")
				packed, err := gzip.NewReader(bytes.NewReader(render.JSON().AppendCoded(nil, encode.Gzip, whole)))
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := io.ReadAll(packed); err != nil || string(got) != want {
					t.Errorf("compressed bodies differ: %v", err)
				}
			})
		}
		var rendered atomic.Bool
		var forgetting sync.WaitGroup
		forgetting.Go(func() {
			for !rendered.Load() {
				render.Forget()
				runtime.Gosched()
			}
		})
		all.Wait()
		rendered.Store(true)
		forgetting.Wait()
		if render.Forget(); render.Bytes() != 0 {
			t.Errorf("%d bytes are left", render.Bytes())
		}
	}
}

// TestNewReportsAll checks that one error names every mismatch.
func TestNewReportsAll(t *testing.T) {
	t.Parallel()
	tab := randomTable(t, rand.New(rand.NewPCG(1, 2)), 10)
	y := Field{"y", tab.fields[0].Column}
	_, err := New(tab.seg, []Field{{"x", "none"}, y, y, {"z", "nor this"}}, encode.Options{})
	testkit.Is(t, err, snapshot.ErrNoColumn, "error")
	for _, want := range []string{`"none"`, `"nor this"`, `field "y" is named twice`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s in it", err, want)
		}
	}
	if _, err := New(tab.seg, nil, encode.Options{}); err == nil {
		t.Error("no fields: no error")
	}
}

// FuzzText checks that the standard decoders return any UTF-8 text unchanged, and that it is
// written as the naive writers write it.
func FuzzText(f *testing.F) {
	for _, s := range oddTexts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return // no segment holds such a text
		}
		quoted := AppendJSONText(nil, s)
		if string(quoted) != naiveQuote(s) {
			t.Fatalf("%q is written as %s, want %s", s, quoted, naiveQuote(s))
		}
		var back string
		if err := json.Unmarshal(quoted, &back); err != nil || back != s {
			t.Fatalf("%q is decoded as %q: %v", s, back, err)
		}
		line := append(csvDialect{}.appendText([]byte("x,"), s), "\r\n"...)
		records, err := csv.NewReader(bytes.NewReader(line)).ReadAll()
		if want := strings.ReplaceAll(s, "\r\n", "\n"); err != nil || len(records) != 1 || records[0][1] != want {
			t.Fatalf("%q is decoded as %q: %v", s, records, err)
		}
	})
}

// pythonRepr returns Python's repr of a float, by its definition: the plain form from 1e-4 to below
// 1e16, the exponent form elsewhere.
func pythonRepr(f float64) string {
	if a := math.Abs(f); f != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

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

// TestRowLengths measures single rows with memory for all lengths, for some, and for none. The
// lengths stay right, and their memory within its limit, and it is given up.
func TestRowLengths(t *testing.T) {
	t.Parallel()
	tab := randomTable(t, rand.New(rand.NewPCG(3, 1)), 1000)
	var ranges []index.Range
	for at := uint32(0); at < 1000; at += 3 {
		ranges = append(ranges, index.Range{From: at, To: at + 1})
	}
	one := (*rowLengths)(nil).Size()
	for _, limit := range []int64{1 << 20, 3 * one, 1} {
		lengths := cache.NewClock(limit)
		render := newRenderer(t, tab.seg, tab.fields, encode.Options{Cache: lengths})
		want := len(render.JSON().Append(nil, ranges))
		for range 2 {
			testkit.Equal(t, render.JSON().Length(ranges), want, "limit %d: Length", limit)
		}
		if kept := lengths.Bytes(); kept > limit || kept == 0 && limit > 1 {
			t.Errorf("%d bytes are kept, want at most %d", kept, limit)
		}
		if render.Forget(); lengths.Bytes() != 0 {
			t.Errorf("%d bytes are kept after Forget", lengths.Bytes())
		}
		lengths.SetLimit(1 << 20)
		if render.JSON().Length(ranges[:1]); lengths.Bytes() != one {
			t.Errorf("%d bytes are kept for one row, want %d", lengths.Bytes(), one)
		}
		if lengths.SetLimit(one - 1); lengths.Bytes() != 0 {
			t.Errorf("%d bytes are kept above the limit", lengths.Bytes())
		}
	}
}

// TestLongRowLengths keeps lengths of two bytes only, and those of neighbours apart.
func TestLongRowLengths(t *testing.T) {
	t.Parallel()
	var l rowLengths
	l.set(6, math.MaxUint16)
	l.set(7, math.MaxUint16+1)
	l.set(8, 3)
	l.set(9, 4)
	for i, want := range map[uint32]uint32{5: 0, 6: math.MaxUint16, 7: 0, 8: 3, 9: 4, 10: 0} {
		testkit.Equal(t, l.at(i), want, "the length of row %d", i)
	}
}

// TestIsPlain compares isPlain with a check of each byte. The texts have escaped characters, and
// neighbours of those, at random positions.
func TestIsPlain(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		text := []byte(strings.Repeat("é!#[]~", 8))[:r.IntN(40)]
		for range r.IntN(3) {
			if len(text) > 0 {
				text[r.IntN(len(text))] = byte(r.Uint32())
			}
		}
		want := true
		for _, b := range text {
			want = want && b >= ' ' && b != '"' && b != '\\'
		}
		testkit.Equal(t, isPlain(string(text)), want, "%q", text)
	}
}
