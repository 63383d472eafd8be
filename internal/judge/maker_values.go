package judge

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// identifiers are valid and invalid in every way in which the two decodings differ.
var identifiers = []string{
	goodOne,
	identifierOf("abcd:a@b.co"),
	identifierOf("abc:a@b.co"),
	identifierOf("abcd"),
	identifierOf("abcd:"),
	identifierOf("abcd:a@b"),
	identifierOf("a:b:cd:a@b.co"),
	identifierOf("ab\xff\xfecd:a@b.co"),
	identifierOf("größe?>:jürgen@exämple.org"),
	identifierOf("  x :Some Name <a@b.co>"),
	identifierOf("abcd:a..b@c.co"),
	identifierOf("abcd:a@b.test"),
	identifierOf("abcd:a@b.c0"),
	identifierOf("abcd:a@-b.co"),
	identifierOf("abcd:a@[1.2.3.4]"),
	identifierOf("abcd:a@b.co\n"),
	identifierOf(strings.Repeat("x", 512) + ":a@b.co"),
	identifierOf(strings.Repeat("x", 513) + ":a@b.co"),
	identifierOf(strings.Repeat("é", 300) + ":a@b.co"),
	identifierOf("???>>>~~~:a@b.co"),
	strings.NewReplacer("+", "-", "/", "_").Replace(identifierOf("???>>>~~~:a@b.co")),
	strings.ReplaceAll(identifierOf("~~>>~~>>:a@b.co"), "+", " "),
	strings.TrimRight(goodOne, "="),
	strings.TrimRight(identifierOf("abcde:a@b.co"), "="),
	strings.TrimRight(identifierOf("abcdef:a@b.co"), "="),
	goodOne + "====",
	goodOne + "=trailing",
	goodOne[:8] + "\n " + goodOne[8:],
	goodOne[:8] + "=" + goodOne[8:],
	goodOne + "A",
	"", "not-base64!", "x", "é", "====", " ", "judge-app:judge@example.org", "\x00",
}

// emails are for the route that encodes identifiers.
var emails = []string{
	"a@b.co", "A.b+c@EXAMPLE.Org", "jürgen@exämple.org", "Some Name <a@B.co>", " a@b.co ", "", "plain", "@b.co",
	"a@b", "a..b@c.co", "a@b..co",
	".a@b.co", "a.@b.co", "a b@c.co", "a@b c.co", "a@b@c.co", "a@-b.co", "a@b-.co", "a@b.c0", "a@b.1", "a@x.test",
	"a@x.LOCAL", "a@example.com",
	"a@[1.2.3.4]", "a@b_c.co", "a;b@c.co", "o'x@c.co", strings.Repeat("x", 64) + "@b.co", strings.Repeat("x", 65) +
		"@b.co",
	"a@" + strings.Repeat("b", 63) + ".co", "a@" + strings.Repeat("b", 64) + ".co", "a@b.co.", "a@.b.co", "\x00@b.co",
}

// encoding returns a request that encodes an identifier.
func (m *maker) encoding() request {
	var pairs []pair
	if m.chance(92) {
		pairs = append(pairs, pair{"application", pick(m, []string{
			"abcd", "abc", "", "my app", "größe", "a:b:c", strings.Repeat("é", 512), strings.Repeat("x", 513),
			"ab\x00d", "日本語だ", `"q\`,
		})})
	}
	if m.chance(92) {
		pairs = append(pairs, pair{"email", pick(m, emails)})
	}
	if m.chance(20) {
		pairs = append(pairs, pair{"output_format", "xml"}, pair{"app_identifier", "bad"})
	}
	return request{Method: pick(m, []string{"GET", "GET", "GET", "HEAD"}), Path: pathPrefix +
		"encode_app_identifier" + m.query(pairs)}
}

func (m *maker) anyRow(e *endpoint) row {
	if rows := m.w.rows[e.Path]; len(rows) > 0 {
		return pick(m, rows)
	}
	return row{}
}

// fitting draws a value that nearly always matches the row.
func (m *maker) fitting(p *param, r row) string {
	stored := r.stored[storedColumn(pick(m, p.Columns))]
	switch v := stored.(type) {
	case bool:
		return pick(m, map[bool][]string{true: {"true", "True", "1", "yes"}, false: {"false", "FALSE", "0", "n"}}[v])
	case int64:
		if p.Match == "lt" {
			return strconv.FormatInt(v+int64(1+m.rng.IntN(50)), 10)
		}
		return strconv.FormatInt(v, 10)
	case decimal:
		if p.Match == "lt" {
			return strconv.FormatFloat(v.float*(1+m.rng.Float64())+0.01, 'f', -1, 64)
		}
		return v.text
	case time.Time:
		if p.Type == "partial-date" {
			return v.Format(pick(m, []string{"2006", "2006-01", "2006-01-02", "2006-01-02T15:04:05"}))
		}
		return v.Format(pick(m, []string{"2006-01-02", "2006-01-02T15:04:05", "2006-01-02 15:04"}))
	case string:
		if p.Match == "exact" || p.Match == "enum_equal" {
			return v
		}
		kinds := m.texts(v)
		return kinds[m.rng.IntN(min(6, len(kinds)))]()
	}
	return ""
}

// kinds lists ways to draw a value for a parameter, valid and invalid.
func (m *maker) kinds(e *endpoint, p *param) []func() string {
	stored := func() any {
		return m.anyRow(e).stored[storedColumn(pick(m, p.Columns))]
	}
	fixed := func(values ...string) []func() string {
		out := make([]func() string, len(values))
		for i, v := range values {
			out[i] = func() string { return v }
		}
		return out
	}
	switch p.Type {
	case "string":
		text, _ := stored().(string)
		return append(m.texts(text), m.lengths(p)...)
	case "enum":
		out := fixed(p.Enum...)
		first := p.Enum[0]
		return append(out, fixed("", strings.ToUpper(first)+"x", first+" ", " "+first, "nothing",
			first+","+p.Enum[len(p.Enum)-1], "\x00", swapCase(p.Enum[len(p.Enum)-1]),
			strings.Repeat("z", 200), "%", "é\"\\\n")...)
	case "boolean":
		return fixed("true", "false", "TRUE", "False", "t", "F", "1", "0", "yes", "NO", "y", "n", "on", "Off", "",
			" true", "true ", "2", "01", "none", "\x00")
	case "integer":
		return m.integers(stored)
	case "number":
		kinds := m.numbers(stored, fixed)
		if p.Parse == "decimal" {
			// The incumbent accepts the last three as decimals, and the contract does not mention
			// them.
			kinds = kinds[:len(kinds)-3]
		}
		return kinds
	case "partial-date":
		return m.partialDates(stored, fixed)
	case "date-time or date":
		return m.dateTimes(stored, fixed)
	}
	panic(fmt.Sprintf("parameter %s has the unknown type %q", p.Name, p.Type))
}

func swapCase(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, text)
}

// texts draws values from a stored text. The first six match it unless it contains wildcards.
func (m *maker) texts(text string) []func() string {
	runes := []rune(text)
	cut := func() (int, int) {
		from := m.rng.IntN(len(runes) + 1)
		return from, from + m.rng.IntN(len(runes)-from+1)
	}
	literal := func(v string) string { return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(v) }
	return []func() string{
		func() string { return text },
		func() string { return strings.ToLower(text) },
		func() string { return strings.ToUpper(text) },
		func() string { return literal(text) },
		func() string { from, to := cut(); return string(runes[:from]) + "%" + string(runes[to:]) },
		func() string {
			from, _ := cut()
			if from == len(runes) {
				return text
			}
			return string(runes[:from]) + "_" + string(runes[from+1:])
		},
		func() string { from, to := cut(); return string(runes[from:to]) },
		func() string { from, to := cut(); return "%" + string(runes[from:to]) + "%" },
		func() string { from, _ := cut(); return string(runes[:from]) + "%" },
		func() string { from, _ := cut(); return "%" + string(runes[from:]) },
		func() string { from, _ := cut(); return string(runes[:from]) + `\` + string(runes[from:]) },
		func() string { return text + `\` },
		func() string { return `\` },
		func() string { return `\\` },
		func() string { return `\%` },
		func() string { return "%" },
		func() string { return "_" },
		func() string { return strings.Repeat("_", len(runes)) },
		func() string { return "%_%" },
		func() string { return "%%" },
		func() string { return "" },
		func() string { return text + "\x00" },
		func() string { return "\x00" },
		func() string { return text + "\xff" },
		func() string { return "\xe4\xbd" + text + "\xf0\x9f\x98" },
		func() string { return " " + text },
		func() string { return text + " " },
		func() string { return " " },
		func() string { return "unspecified" },
		func() string { return "-xxx" },
		func() string { return "a" },
		func() string { return "É" },
		func() string { return "İ" },
		func() string { return "*" },
		func() string { return "a&b=c;d#e+f%20g" },
		func() string { return "nothing like it" },
	}
}

// lengths draws values around the maximum length.
func (m *maker) lengths(p *param) []func() string {
	if p.MaxLength == nil {
		return nil
	}
	n := *p.MaxLength
	return []func() string{
		func() string { return strings.Repeat("x", n) },
		func() string { return strings.Repeat("x", n+1) },
		func() string { return strings.Repeat("é", n) },
		func() string { return strings.Repeat("😀", n+1) },
		func() string { return strings.Repeat("%", n) },
	}
}

func (m *maker) integers(stored func() any) []func() string {
	number := func() int64 { v, _ := stored().(int64); return v }
	var out []func() string
	for _, format := range []string{
		"%d", "+%d", " %d ", "00%d", "%d.0", "%d.000", "\t%d", "%d.5", "%de0", "%d_",
		"%d x", "0x%d",
	} {
		out = append(out, func() string { return fmt.Sprintf(format, number()) })
	}
	for _, step := range []int64{-1, 1, -1000, 1000} {
		out = append(out, func() string { return strconv.FormatInt(number()+step, 10) })
	}
	for _, v := range []string{
		"0", "-1", "-0", "1_0", "1__0", "1_000", "99999999999999999999", "-99999999999999999999", "2147483648",
		"9223372036854775808", "\xe4\xbd", "\xed\xa0\x80\xf4\x90x\xc3", "", " ", "abc", "1e2", "1.5", "١", "--1", "+",
		"1 0", "1,0", "\x00", "nan",
	} {
		out = append(out, func() string { return v })
	}
	return out
}

func (m *maker) numbers(stored func() any, fixed func(...string) []func() string) []func() string {
	number := func() decimal {
		if v, ok := stored().(decimal); ok {
			return v
		}
		return decimal{"1.5", 1.5}
	}
	shortest := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	out := []func() string{
		func() string { return number().text },
		func() string { return shortest(number().float) },
		func() string { return strconv.FormatFloat(number().float, 'e', -1, 64) },
		func() string { return shortest(math.Nextafter(number().float, math.Inf(1))) },
		func() string { return shortest(math.Nextafter(number().float, math.Inf(-1))) },
		func() string { return number().text + "00000000000000000000000000001" },
		func() string { return " " + number().text + " " },
		func() string { return "+" + strings.TrimPrefix(number().text, "-") },
		func() string { return strconv.FormatInt(int64(number().float), 10) },
		func() string { return "000" + strings.TrimPrefix(number().text, "-") },
	}
	return append(out, fixed(
		"0", "-0", ".5", "5.", ".", "1_0", "1e1", "1E+1", "1e-3", "1e", "inf", "-inf", "INF", "Infinity", "nan",
		"-NaN", "+nan", "1e400", "-1e400", "1e-400",
		"0x10", "1,5", "", " ", "abc", "+", "+-1", "1 0", "\x00", "1f", "1000000000000000000000000000000", "0.1",
		"2.5", "_1", "1__0", "١")...)
}

func (m *maker) partialDates(stored func() any, fixed func(...string) []func() string) []func() string {
	at := func() time.Time {
		if t, ok := stored().(time.Time); ok {
			return t
		}
		return time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	}
	var out []func() string
	for _, layout := range []string{"2006", "2006-01", "2006-01-02", "2006-01-02T15:04:05"} {
		for _, step := range []time.Duration{
			0, -time.Second, time.Second, 24 * time.Hour, -24 * time.Hour,
			31 * 24 * time.Hour,
		} {
			out = append(out, func() string { return at().Add(step).Format(layout) })
		}
	}
	return append(out, fixed(
		"", "2023-02-29", "2024-02-29", "2023-13", "2023-00", "2023-1-1", "2023-01-32", "0000", "0001", "9999",
		"9998", "9999-01-01", "9998-12-31T23:59:59", "0000-01-01",
		"2023-05-17 10:20:30", "2023-05-17T10:20:30Z", "2023-05-17T10:20:30.5", "2023-05-17T10:20",
		"2023-05-17T24:00:00", "2023-05-17T10:60:00", "2023-05-17T10:20:60",
		"20230517", "2023/05/17", "2023-05-17t10:20:30", "２０２３", "٢٠٢٣", " 2023", "2023 ", "bad", "202", "20233",
		"-023", "2023-5", "2023-+5", "+023", "\x00", "2023-05-17T10-20-30", "1e10")...)
}

func (m *maker) dateTimes(stored func() any, fixed func(...string) []func() string) []func() string {
	at := func() time.Time {
		if t, ok := stored().(time.Time); ok {
			return t
		}
		return time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC)
	}
	var out []func() string
	east := time.FixedZone("", 5*3600+30*60)
	for _, layout := range []string{
		"2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02t15:04:05", "2006-01-02 15:04:05",
		"2006-01-02_15:04:05", "2006-01-02T15:04:05.000000", "2006-01-02T15:04:05.0Z",
		"2006-01-02T15:04:05Z", "2006-01-02T15:04Z",
	} {
		for _, step := range []time.Duration{0, -time.Second, time.Second} {
			out = append(out, func() string { return at().Add(step).Format(layout) })
		}
	}
	out = append(out,
		func() string { return at().In(east).Format("2006-01-02T15:04:05-07:00") },
		func() string { return at().In(time.FixedZone("", -3*3600)).Format("2006-01-02T15:04:05.000000-07:00") },
		func() string { return at().Add(time.Microsecond).Format("2006-01-02T15:04:05.000000") },
		func() string { return strconv.FormatInt(at().Unix(), 10) },
		func() string { return strconv.FormatInt(at().Unix()+1, 10) },
		func() string { return strconv.FormatInt(at().UnixMilli(), 10) },
		func() string { return strconv.FormatInt(at().Unix(), 10) + ".0" },
	)
	return append(out, fixed(
		"", "2023", "-5", "20000000000", "abc", "2023-13-01", "2023-00-01", "2023-02-30", "2023-01-00", "2023-1-1",
		"2023/01/01", "2023-01-01x", "2023-01-01T", "2023-01-01T10", "2023-01-01T25:00",
		"2023-01-01T10:60", "2023-01-01T10:20:60", "2023-01-01T10:20:30.", "2023-01-01T10:20:30+25:00", " 2023-01-01",
		"2023-01", "nan", "１２３４", "abcdefghijkl", "\x00", "2023-02-30T00:00:00")...)
}
