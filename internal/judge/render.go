package judge

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// escapes are those that a JSON string must have, the short ones where there are.
var escapes = func() *strings.Replacer {
	pairs := []string{`"`, `\"`, `\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\b", `\b`, "\f", `\f`}
	for c := range ' ' {
		pairs = append(pairs, string(c), fmt.Sprintf(`\u%04x`, c)) // of two for one text, the first counts
	}
	return strings.NewReplacer(pairs...)
}()

// quoted is a JSON string with the fewest escapes.
func quoted(text string) string {
	return `"` + escapes.Replace(strings.ToValidUTF8(text, "\ufffd")) + `"`
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
	case *big.Rat:
		return exactText(v)
	case jsonText:
		return string(v)
	case time.Time:
		return `"` + timeText(v, "T") + `"`
	}
	panic(fmt.Sprintf("no JSON for a %T", v))
}

func jsonBody(names []string, records [][]any) string {
	texts := make([]string, len(records))
	for i, values := range records {
		texts[i] = jsonObject(names, values)
	}
	return `{"data":[` + strings.Join(texts, ",") + "]}"
}

func linesBody(names []string, records [][]any, _ [][2]any) string {
	var b strings.Builder
	for _, values := range records {
		b.WriteString(jsonObject(names, values) + "\n")
	}
	return b.String()
}

func jsonObject(names []string, values []any) string {
	members := make([]string, len(names))
	for i, name := range names {
		members[i] = quoted(name) + ":" + jsonValue(values[i])
	}
	return "{" + strings.Join(members, ",") + "}"
}

func pointsBody(names []string, records [][]any, points [][2]any) string {
	features := make([]string, len(records))
	for i, values := range records {
		var properties []string
		var kept []any
		for j, name := range names {
			if name != "lat" && name != "lon" {
				properties, kept = append(properties, name), append(kept, values[j])
			}
		}
		geometry := "null"
		if lon, lat := points[i][0], points[i][1]; lat != nil && lon != nil {
			geometry = `{"type":"Point","coordinates":[` + jsonValue(lon) + "," + jsonValue(lat) + "]}"
		}
		features[i] = `{"type":"Feature","geometry":` + geometry + `,"properties":` + jsonObject(properties, kept) + "}"
	}
	return `{"type":"FeatureCollection","features":[` + strings.Join(features, ",") + "]}"
}

// exactText is a sum with all its digits. Sums of decimals end.
func exactText(r *big.Rat) string {
	digits, ends := r.FloatPrec()
	if !ends {
		panic(fmt.Sprintf("the sum %v does not end", r))
	}
	return r.FloatString(digits)
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

func csvBody(names []string, records [][]any, _ [][2]any) string {
	var b strings.Builder
	b.WriteString(strings.Join(names, ",") + "\r\n")
	for _, values := range records {
		cells := make([]string, len(values))
		for i, v := range values {
			if cells[i] = csvValue(v); cells[i] == "" && len(names) == 1 {
				cells[i] = `""`
			}
		}
		b.WriteString(strings.Join(cells, ",") + "\r\n")
	}
	return b.String()
}
