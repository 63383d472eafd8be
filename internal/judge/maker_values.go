package judge

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

//go:embed odd.txt
var oddLines string

// oddValues are values to send, by the name or the type of a parameter. They are written as in Go.
var oddValues = func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(oddLines) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for rest != "" {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				panic("judge: odd.txt: " + line)
			}
			value, _ := strconv.Unquote(quoted) // it is quoted
			all[name] = append(all[name], value)
			rest = strings.TrimSpace(rest[len(quoted):])
		}
	}
	return all
}()

func (m *maker) anyRow(e *endpoint) row {
	if rows := m.w.rows[e.Path]; len(rows) > 0 {
		return pick(m, rows)
	}
	return row{}
}

// fitting draws a value that nearly always matches the row.
func (m *maker) fitting(p *param, r row) string {
	switch v := r.stored[storedColumn(pick(m, p.Columns))].(type) {
	case bool:
		return pick(m, map[bool][]string{true: {"true", "True", "1", "yes"}, false: {"false", "FALSE", "0", "n"}}[v])
	case int64:
		if p.Match == "lt" {
			v += int64(1 + m.rng.IntN(50))
		}
		return strconv.FormatInt(v, 10)
	case decimal:
		if p.Match == "lt" {
			return strconv.FormatFloat(v.float*(1+m.rng.Float64())+0.01, 'f', -1, 64)
		}
		return v.text
	case time.Time:
		if p.Type == "partial-date" {
			return v.Format(pick(m, partialLayouts))
		}
		return v.Format(pick(m, []string{"2006-01-02", "2006-01-02T15:04:05", "2006-01-02 15:04"}))
	case string:
		if p.Match == "exact" || p.Match == "enum_equal" {
			return v
		}
		return pick(m, m.matching(v))
	}
	return ""
}

func isBound(p *param) bool {
	return p.Match == "ge" || p.Match == "lt" || strings.HasPrefix(p.Match, "overlap_")
}

// around returns a stored value as a bound, and one just above it.
func around(p *param, stored any) []string {
	switch v := stored.(type) {
	case int64:
		return []string{strconv.FormatInt(v, 10), strconv.FormatInt(v+1, 10)}
	case decimal:
		return []string{v.text, nextDecimal(v.text)}
	case time.Time:
		const second = "2006-01-02T15:04:05"
		values := []string{v.Format(second), v.Format("2006-01"), v.Add(time.Second).Format(second)}
		if p.Type != "partial-date" {
			values = append(values, v.Add(time.Microsecond).Format(second+".000000"))
		}
		return values
	}
	return nil
}

// nextDecimal is the next larger number with the same number of places. What is not plain digits is
// returned unchanged.
func nextDecimal(text string) string {
	digits := []byte(text)
	for i := len(digits) - 1; i >= 0; i-- {
		switch c := digits[i]; {
		case c == '.':
		case c < '0' || c > '9':
			return text
		case c < '9':
			digits[i]++
			return string(digits)
		default:
			digits[i] = '0'
		}
	}
	return "1" + string(digits)
}

// values draws values for a parameter: those at which similar rules differ (contains or equals,
// case-sensitive or not, inclusive or exclusive), and those that are unusual or wrong. The first
// are of rows that have such a value, if a few tries find one.
func (m *maker) values(e *endpoint, p *param) (telling, odd []string) {
	if len(p.Columns) == 0 {
		return nil, oddValues[p.Name]
	}
	stored := func(fits func(r row, v any) bool) any {
		column := storedColumn(pick(m, p.Columns))
		for range 50 {
			r := m.anyRow(e)
			if v := r.stored[column]; v != nil && fits(r, v) {
				return v
			}
		}
		return nil
	}
	anything := func(row, any) bool { return true }
	switch p.Type {
	case "string":
		return m.texts(p, stored)
	case "enum":
		first, last := p.Enum[0], p.Enum[len(p.Enum)-1]
		return p.Enum, []string{
			"", strings.ToUpper(first) + "x", first + " ", " " + first, "nothing", first + "," + last, "\x00",
			swapCase(last), strings.Repeat("z", 200), "%", "é\"\\\n",
		}
	case "boolean":
		return []string{"true", "false"}, oddValues[p.Type]
	}
	for range 2 {
		telling = append(telling, around(p, stored(anything))...)
	}
	switch p.Type {
	case "integer":
		n, _ := stored(anything).(int64)
		return telling, integers(n)
	case "number":
		v, ok := stored(anything).(decimal)
		if !ok {
			v = decimal{text: "1.5", float: 1.5}
		}
		odd = numbers(v)
		if p.Parse == "decimal" {
			// The incumbent accepts the last three as decimals, and the contract does not mention
			// them.
			odd = odd[:len(odd)-3]
		}
		return telling, odd
	}
	at, ok := stored(anything).(time.Time)
	if !ok {
		at = time.Date(2024, 2, 29, 5, 6, 7, 0, time.UTC)
	}
	if p.Type == "partial-date" {
		return telling, partialDates(at)
	}
	return telling, dateTimes(at)
}

func swapCase(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, text)
}

// cut draws a part of a text: its ends, in characters.
func (m *maker) cut(text []rune) (from, to int) {
	from = m.rng.IntN(len(text) + 1)
	return from, from + m.rng.IntN(len(text)-from+1)
}

// matching draws patterns that match a text, unless it contains wildcards.
func (m *maker) matching(text string) []string {
	runes := []rune(text)
	from, to := m.cut(runes)
	one := text
	if at := m.rng.IntN(len(runes) + 1); at < len(runes) {
		one = string(runes[:at]) + "_" + string(runes[at+1:])
	}
	return []string{
		text, strings.ToLower(text), strings.ToUpper(text),
		strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text),
		string(runes[:from]) + "%" + string(runes[to:]), one,
	}
}

// texts draws values for a filter by text: of a text with an inside and letters that have a case,
// of one that records print differently, and of any.
func (m *maker) texts(p *param, stored func(fits func(row, any) bool) any) (telling, odd []string) {
	cased, _ := stored(func(_ row, v any) bool {
		text, _ := v.(string)
		return len([]rune(text)) > 2 && strings.ToLower(text) != strings.ToUpper(text)
	}).(string)
	hidden, _ := stored(func(r row, v any) bool {
		shown, known := r.shown[storedColumn(p.Columns[0])]
		return known && shown != v
	}).(string)
	telling = append(m.matching(cased), swapCase(cased), hidden)
	if runes := []rune(cased); len(runes) > 2 {
		telling = append(telling, string(runes[1:len(runes)-1]), "%"+string(runes[2:]))
	}
	text, _ := stored(func(row, any) bool { return true }).(string)
	runes := []rune(text)
	from, to := m.cut(runes)
	before, part, after := string(runes[:from]), string(runes[from:to]), string(runes[from:])
	odd = []string{
		part, "%" + part + "%", before + "%", "%" + after, before + `\` + after, text + `\`, `\`, `\\`, `\%`, "%",
		"_", strings.Repeat("_", len(runes)), "%_%", "%%", "", text + "\x00", "\x00", text + "\xff",
		"\xe4\xbd" + text + "\xf0\x9f\x98", " " + text, text + " ", " ", "unspecified", "-xxx", "a", "É", "İ", "*",
		"a&b=c;d#e+f%20g", "nothing like it",
	}
	if p.MaxLength != nil {
		n := *p.MaxLength
		odd = append(odd, strings.Repeat("x", n), strings.Repeat("x", n+1), strings.Repeat("é", n),
			strings.Repeat("😀", n+1), strings.Repeat("%", n))
	}
	return telling, odd
}

func integers(n int64) []string {
	var all []string
	for _, format := range []string{
		"%d", "+%d", " %d ", "00%d", "%d.0", "%d.000", "\t%d", "%d.5", "%de0", "%d_", "%d x", "0x%d",
	} {
		all = append(all, fmt.Sprintf(format, n))
	}
	for _, step := range []int64{-1, -1000, 1000} {
		all = append(all, strconv.FormatInt(n+step, 10))
	}
	return append(all, oddValues["integer"]...)
}

func numbers(v decimal) []string {
	shortest := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	unsigned := strings.TrimPrefix(v.text, "-")
	return append([]string{
		shortest(v.float), strconv.FormatFloat(v.float, 'e', -1, 64), shortest(math.Nextafter(v.float, math.Inf(1))),
		shortest(math.Nextafter(v.float, math.Inf(-1))), v.text + "00000000000000000000000000001",
		" " + v.text + " ", "+" + unsigned, strconv.FormatInt(int64(v.float), 10), "000" + unsigned,
	}, oddValues["number"]...)
}

var partialLayouts = []string{"2006", "2006-01", "2006-01-02", "2006-01-02T15:04:05"}

func partialDates(at time.Time) []string {
	const day = 24 * time.Hour
	var all []string
	for _, layout := range partialLayouts {
		for _, step := range []time.Duration{0, -time.Second, day, -day, 31 * day} {
			all = append(all, at.Add(step).Format(layout))
		}
	}
	return append(all, oddValues["partial-date"]...)
}

func dateTimes(at time.Time) []string {
	var all []string
	for _, layout := range []string{
		"2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02t15:04:05", "2006-01-02 15:04:05",
		"2006-01-02_15:04:05", "2006-01-02T15:04:05.000000", "2006-01-02T15:04:05.0Z",
		"2006-01-02T15:04:05Z", "2006-01-02T15:04Z",
	} {
		for _, step := range []time.Duration{0, -time.Second} {
			all = append(all, at.Add(step).Format(layout))
		}
	}
	seconds := strconv.FormatInt(at.Unix(), 10)
	all = append(all,
		at.In(time.FixedZone("", 5*3600+30*60)).Format("2006-01-02T15:04:05-07:00"),
		at.In(time.FixedZone("", -3*3600)).Format("2006-01-02T15:04:05.000000-07:00"),
		seconds, strconv.FormatInt(at.Unix()+1, 10), seconds+".0", strconv.FormatInt(at.UnixMilli(), 10))
	return append(all, oddValues["date-time or date"]...)
}
