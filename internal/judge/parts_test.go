package judge

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// These tests compare parts of the judge with other implementations of the same rules, so that it
// has no mistake in common with the program it judges.

// FuzzLike compares the matcher with regular expressions of the standard library.
func FuzzLike(f *testing.F) {
	for _, seed := range [][2]string{
		{"a%b", "a x b"},
		{"_", "é"},
		{`\%\_\\`, `%_\`},
		{`x\`, `x\`},
		{"%%_%", "ab"},
		{"İ", "i"},
		{"", ""},
		{"%a%a%", "ba\na"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, value, text string) {
		if !utf8.ValidString(value) || !utf8.ValidString(text) || len(value) > 200 {
			t.Skip()
		}
		var expr strings.Builder
		expr.WriteString(`(?s)\A`)
		runes := folded(value)
		for i := 0; i < len(runes); i++ {
			switch {
			case runes[i] == '%':
				expr.WriteString(`.*`)
			case runes[i] == '_':
				expr.WriteString(`.`)
			case runes[i] == '\\' && i+1 < len(runes):
				i++
				fallthrough
			default:
				expr.WriteString(regexp.QuoteMeta(string(runes[i])))
			}
		}
		expr.WriteString(`\z`)
		want := regexp.MustCompile(expr.String()).MatchString(string(folded(text)))
		if got := like(pattern(value), text); got != want {
			t.Errorf("%q like %q: %v, want %v", text, value, got, want)
		}
	})
}

// FuzzQuery compares the query string parser with net/url where that succeeds.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"a=b&c=%20+d", "=&&a", "a=%C3%A9&a=2", "%zz=1", "a=%ff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := readQuery(text)
		for _, p := range got {
			if !utf8.ValidString(p.name) || !utf8.ValidString(p.value) {
				t.Fatalf("%q reads as %q", text, got)
			}
		}
		want, err := url.ParseQuery(text)
		if err != nil || strings.Contains(text, ";") {
			return
		}
		for name, values := range want {
			if last := values[len(values)-1]; utf8.ValidString(name) && utf8.ValidString(last) {
				if have, _ := got.last(name); have != last {
					t.Errorf("%q: %s is %q, want %q", text, name, have, last)
				}
			}
		}
	})
}

// FuzzBase64 compares the lenient decoder with the strict one where that succeeds.
func FuzzBase64(f *testing.F) {
	for _, seed := range []string{"YWJjZA==", "YWJj", "YQ", "Y=W=", "YWJjZA==YQ==", "-_-_"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := decodeBase64(text)
		want, err := base64.StdEncoding.DecodeString(text)
		if err == nil && (!ok || got != string(want)) {
			t.Errorf("%q decodes to %q %v, want %q", text, got, ok, want)
		}
	})
}

// TestFloatText checks that a printed float parses as the same float and has a point or an
// exponent.
func TestFloatText(t *testing.T) {
	for text, want := range map[string]string{
		"12.50": "12.5", "100": "100.0", "0.00001": "1e-05", "0.0001": "0.0001",
		"1000000000000000":  "1000000000000000.0",
		"10000000000000000": "1e+16", "1.5e300": "1.5e+300", "-0": "-0.0", "123456789.123456789": "123456789.12345679",
	} {
		v, err := strconv.ParseFloat(text, 64)
		if got := floatText(v); err != nil || got != want {
			t.Errorf("%s prints as %s, want %s (%v)", text, got, want, err)
		}
	}
	for bits := uint64(1); bits < 1<<63; bits += 0x0123_4567_89ab_cdef >> 3 {
		v := math.Float64frombits(bits)
		if math.IsInf(v, 0) || math.IsNaN(v) {
			continue
		}
		text := floatText(v)
		if back, err := strconv.ParseFloat(text, 64); err != nil || back != v || !strings.ContainsAny(text, ".e") {
			t.Errorf("%v prints as %s", v, text)
		}
	}
}

// TestExactOrder checks that decimals compare by value in every notation.
func TestExactOrder(t *testing.T) {
	ascending := []string{
		"-1e400", "-10", "-1.50", "-1e-400", "0", "1e-400", "0.1", "0.10000000000000000000000001",
		"1", "9.99", "10", "1e2", "1e400", "1e99999999999",
	}
	for i, a := range ascending {
		for j, b := range ascending {
			if got := parseExact(a).compare(parseExact(b)); got != cmp.Compare(i, j) {
				t.Errorf("%s compares as %d with %s", a, got, b)
			}
		}
	}
	for _, same := range [][2]string{
		{"1.50", "1.5"},
		{"0.00", "-0"},
		{"100", "1e2"},
		{"+5.", "5"},
		{".5", "5e-1"},
		{"0.05e1", "0.5"},
	} {
		a, b := parseExact(same[0]), parseExact(same[1])
		if a.compare(b) != 0 {
			t.Errorf("%s and %s compare as different numbers", same[0], same[1])
		}
	}
}

// TestQuoted checks that escaped strings parse as the original.
func TestQuoted(t *testing.T) {
	for r := rune(0); r < 0x2100; r++ {
		var back string
		if err := json.Unmarshal([]byte(quoted(string(r))), &back); err != nil || back != string(r) {
			t.Errorf("%U is written as %s", r, quoted(string(r)))
		}
	}
}
