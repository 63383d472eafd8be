package judge

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// quoted is a JSON string with the fewest escapes.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\b':
			b.WriteString(`\b`)
		case r == '\f':
			b.WriteString(`\f`)
		case r < 0x20:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// floatText is the shortest form that parses as the same float and has a point or an exponent.
func floatText(v float64) string {
	text := strconv.FormatFloat(v, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	power, err := strconv.Atoi(exponent)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		panic(fmt.Sprintf("no JSON number for %v", v))
	}
	if power < -4 || power >= 16 {
		return mantissa + "e" + exponent // Go writes at least two digits of an exponent, as Python does
	}
	text = strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func timeText(t time.Time, separator string) string {
	text := t.Format("2006-01-02" + separator + "15:04:05")
	if micros := t.Nanosecond() / 1000; micros != 0 {
		text += fmt.Sprintf(".%06d", micros)
	}
	return text
}

func jsonValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return quoted(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case decimal:
		return floatText(v.float)
	case time.Time:
		return `"` + timeText(v, "T") + `"`
	}
	panic(fmt.Sprintf("no JSON for a %T", v))
}

func jsonBody(fields []*field, rows []row) string {
	var b strings.Builder
	b.WriteString(`{"data":[`)
	for i, r := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		for j, f := range fields {
			b.WriteByte("{,"[min(j, 1)])
			b.WriteString(quoted(f.Name) + ":" + jsonValue(r.at(f.Name)))
		}
		b.WriteByte('}')
	}
	b.WriteString("]}")
	return b.String()
}

func csvValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case bool:
		if v {
			return "True"
		}
		return "False"
	case time.Time:
		return timeText(v, " ")
	case string:
		if strings.ContainsAny(v, ",\"\r\n") {
			return `"` + strings.ReplaceAll(v, `"`, `""`) + `"`
		}
		return v
	}
	return jsonValue(v)
}

func csvBody(fields []*field, rows []row) string {
	var b strings.Builder
	line := func(cell func(f *field) string) {
		for j, f := range fields {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(cell(f))
		}
		b.WriteString("\r\n")
	}
	line(func(f *field) string { return f.Name })
	for _, r := range rows {
		line(func(f *field) string {
			if cell := csvValue(r.at(f.Name)); cell != "" || len(fields) > 1 {
				return cell
			}
			return `""`
		})
	}
	return b.String()
}
