package contract

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/internal/testkit"
)

// TestValues parses every text of testdata/values.txt.
func TestValues(t *testing.T) {
	cases := testkit.Cases(t, "testdata/values.txt", " ", 2)
	for _, c := range cases {
		kind, rest := c[0], c[1]
		quoted := testkit.Value(strconv.QuotedPrefix(rest))(t)
		text := testkit.Value(strconv.Unquote(quoted))(t)
		want := strings.TrimPrefix(rest[len(quoted):], " ")
		testkit.Equal(t, parseValue(kind, text, want), want, "%s %q", kind, text)
	}
	testkit.AtLeast(t, len(cases), 200, "lines")
}

// parseValue parses a text and formats the result as values.txt does. It needs want for values that
// can be written in several ways.
func parseValue(kind, text, want string) string {
	wanted := strings.TrimPrefix(want, "= ")
	switch kind {
	case "int":
		value, beyond, ok := parseInteger(text)
		exact, isNumber := new(big.Int).SetString(wanted, 10)
		switch {
		case !ok:
			return "bad int_parsing"
		case beyond == 0:
			return fmt.Sprintf("= %d", value)
		case isNumber && !exact.IsInt64() && exact.Sign() == int(beyond):
			return want
		}
		return fmt.Sprintf("= beyond %d", beyond)
	case "float":
		value, ok := parseNumber(text)
		wantedValue, err := strconv.ParseFloat(wanted, 64)
		switch {
		case !ok:
			return "bad float_parsing"
		case err == nil && (value == wantedValue || math.IsNaN(value) && math.IsNaN(wantedValue)):
			return want
		}
		return fmt.Sprintf("= %v", value)
	case "decimal":
		value, fault := parseExact(text)
		wantedValue, isNumber := new(big.Rat).SetString(wanted)
		switch {
		case fault == decimalInfinite:
			return "bad finite_number"
		case fault == decimalBad:
			return "bad decimal_parsing"
		case isNumber && value.Cmp(wantedValue) == 0:
			return want
		case strings.HasSuffix(wanted, "E-999999999999"): // clamped to the bounds
			return want
		}
		return "= " + value.RatString()
	case "bool":
		if value, ok := parseBoolean(text); ok {
			return fmt.Sprintf("= %v", value)
		}
		return "bad bool_parsing"
	case "moment":
		micros, fault := parseDateTime(text)
		if fault.isFault() {
			return fmt.Sprintf("bad %s %s", quoteReason(fault.dateTime), quoteReason(fault.date))
		}
		return "= " + formatMoment(micros)
	}
	return parseText(kind, text)
}

// parseText does the same for other kinds.
func parseText(kind, text string) string {
	switch kind {
	case "day":
		start, isDay := parseDay(text, false)
		end, isEnd := parseDay(text, true)
		if isDay && isEnd {
			return "= " + formatMoment(start) + " " + formatMoment(end)
		}
		return "bad"
	case "email":
		normal, reason := parseEmail(text)
		if reason != "" {
			return fmt.Sprintf("bad %q", reason)
		}
		return fmt.Sprintf("= %q", normal)
	case "decoded":
		return fmt.Sprintf("= %+q", appendDecoded(nil, []byte(text)))
	}
	return "unknown kind " + kind
}

func quoteReason(reason string) string { return `"` + reason + `"` }

func formatMoment(micros int64) string {
	at := time.UnixMicro(micros).UTC()
	if at.Nanosecond() == 0 {
		return at.Format("2006-01-02T15:04:05")
	}
	return at.Format("2006-01-02T15:04:05.000000")
}

// TestExactBounds checks that values outside the range of exact comparison still compare correctly
// with every stored decimal.
func TestExactBounds(t *testing.T) {
	long := strings.Repeat("7", 500)
	for _, c := range []struct{ smaller, greater string }{
		{"99999999999999999999999999", "1e999999999999999999"},
		{"-1e999999999999999999", "-99999999999999999999999999"},
		{"0", "1e-999999999999999999"},
		{"-1e-999999999999999999", "0"},
		{"0." + long[:390], "0." + long},
		{"-0." + long, "-0." + long[:390]},
		{long[:400] + strings.Repeat("0", 100), long},
		{"12.49", "12.5"},
	} {
		a, fault1 := parseExact(c.smaller)
		b, fault2 := parseExact(c.greater)
		if fault1 != decimalFine || fault2 != decimalFine || a.Cmp(b) >= 0 {
			t.Errorf("%.40s does not compare as less than %.40s", c.smaller, c.greater)
		}
	}
}
