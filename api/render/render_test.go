package render

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
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
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// newRenderer renders fields of a segment.
func newRenderer(tb testing.TB, seg *snapshot.Segment, fields []Field, o encode.Options) *Renderer {
	tb.Helper()
	r, err := New(seg, fields, o)
	testkit.Must(tb, err)
	return r
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
		plain, err := io.ReadAll(out)
		testkit.Must(t, err)
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
				if got := string(render.JSON().Append(nil, whole)); got != want {
					t.Error("bodies differ")
				}
				if got := render.JSON().Length(scattered); got != length {
					t.Errorf("Length is %d, want %d", got, length)
				}
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
	if !errors.Is(err, snapshot.ErrNoColumn) {
		t.Errorf("error %v, want ErrNoColumn in it", err)
	}
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
