package contract

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// The readers of this file accept what the first implementation's parameter library accepts;
// testdata/values.txt holds its answers.

// parseInteger reads an integer. Spaces around it, a sign, leading zeros, single '_' between digits
// and a fraction of zeros are accepted. beyond is -1 or +1 if the value does not fit into an int64.
func parseInteger(text string) (value int64, beyond int8, ok bool) {
	digits := strings.TrimFunc(text, unicode.IsSpace)
	negative := strings.HasPrefix(digits, "-")
	if negative || strings.HasPrefix(digits, "+") {
		digits = digits[1:]
	}
	if whole, fraction, found := strings.Cut(digits, "."); found {
		if fraction == "" || strings.Trim(fraction, "0") != "" {
			return 0, 0, false
		}
		digits = whole
	}
	if !isDigits(digits, true) {
		return 0, 0, false
	}
	if strings.IndexByte(digits, '_') >= 0 {
		digits = strings.ReplaceAll(digits, "_", "")
	}
	if negative {
		digits = "-" + digits
	}
	value, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		if negative {
			return math.MinInt64, -1, true
		}
		return math.MaxInt64, +1, true
	}
	return value, 0, true
}

// isDigits reports whether text is one or more ASCII digits. With underscores, single '_' may
// separate them.
func isDigits(text string, underscores bool) bool {
	digit := false
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9':
			digit = true
		case c == '_' && underscores && digit:
			digit = false
		default:
			return false
		}
	}
	return digit
}

// parseNumber reads a 64-bit float in decimal or exponent form, or inf or nan in any case, with
// spaces around or single '_' inside.
func parseNumber(text string) (float64, bool) {
	text, ok := withoutUnderscores(text)
	if !ok {
		return 0, false
	}
	sign, rest := 1.0, text
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		if rest[0] == '-' {
			sign = -1
		}
		rest = rest[1:]
	}
	switch strings.ToLower(rest) {
	case "inf", "infinity":
		return math.Inf(int(sign)), true
	case "nan":
		return math.NaN(), true
	}
	if _, ok := cutNumber(rest); !ok {
		return 0, false
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil && math.Abs(value) != math.Inf(1) {
		return 0, false
	}
	return value, true
}

// withoutUnderscores removes spaces around a number, or else '_' if none is first, last or next to
// another. A number with both is refused.
func withoutUnderscores(text string) (string, bool) {
	if strings.IndexByte(text, '_') < 0 {
		return strings.TrimFunc(text, unicode.IsSpace), true
	}
	if text[0] == '_' || text[len(text)-1] == '_' || strings.Contains(text, "__") {
		return "", false
	}
	return strings.ReplaceAll(text, "_", ""), true
}

// decimalParts are the pieces of an unsigned number: whole.fraction × 10^exponent.
type decimalParts struct{ whole, fraction, exponent string }

// cutNumber splits an unsigned number. ok is false if it is not one.
func cutNumber(text string) (p decimalParts, ok bool) {
	mantissa := text
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, p.exponent = text[:i], text[i+1:]
		if !isDigits(strings.TrimPrefix(strings.TrimPrefix(p.exponent, "-"), "+"), false) ||
			strings.HasPrefix(p.exponent, "-+") {
			return p, false
		}
	}
	p.whole, p.fraction, _ = strings.Cut(mantissa, ".")
	if p.whole == "" && p.fraction == "" {
		return p, false
	}
	return p, (p.whole == "" || isDigits(p.whole, false)) && (p.fraction == "" || isDigits(p.fraction, false))
}

// Limits of exact comparison. No stored value has more digits or a larger exponent, so a parameter
// beyond them compares with every stored value as the nearest number within them does. Without
// limits 1e999999999 would be a gigabyte of digits.
const (
	exactDigits   = 400
	exactExponent = 1000
	maxExponent   = 999_999_999_999_999_999
)

// decimalFault is why a text is not a decimal.
type decimalFault uint8

const (
	decimalFine decimalFault = iota
	decimalBad
	decimalInfinite
)

// parseExact reads a decimal of any size.
func parseExact(text string) (*big.Rat, decimalFault) {
	text, ok := withoutUnderscores(strings.TrimFunc(text, unicode.IsSpace))
	if !ok {
		return nil, decimalBad
	}
	negative := strings.HasPrefix(text, "-")
	if negative || strings.HasPrefix(text, "+") {
		text = text[1:]
	}
	switch strings.ToLower(text) {
	case "inf", "infinity", "nan":
		return nil, decimalInfinite
	}
	p, ok := cutNumber(text)
	if !ok {
		return nil, decimalBad
	}
	exponent, err := strconv.ParseInt(p.exponent, 10, 64)
	if p.exponent != "" && (err != nil || exponent > maxExponent || exponent < -maxExponent) {
		return nil, decimalBad
	}
	return exactOf(p.whole+p.fraction, exponent-int64(len(p.fraction)), negative), decimalFine
}

// exactOf returns digits × 10^exponent, clamped to the range that is compared exactly.
func exactOf(digits string, exponent int64, negative bool) *big.Rat {
	digits = strings.TrimLeft(digits, "0")
	if digits == "" {
		return new(big.Rat)
	}
	if len(digits) > exactDigits {
		rest := digits[exactDigits:]
		digits, exponent = digits[:exactDigits], exponent+int64(len(rest))
		if strings.Trim(rest, "0") != "" {
			digits, exponent = digits+"1", exponent-1
		}
	}
	magnitude := exponent + int64(len(digits))
	switch {
	case magnitude > exactExponent:
		digits, exponent = "1", exactExponent
	case magnitude < -exactExponent:
		digits, exponent = "1", -exactExponent
	}
	mantissa, _ := new(big.Int).SetString(digits, 10)
	if negative {
		mantissa.Neg(mantissa)
	}
	if exponent >= 0 {
		return new(big.Rat).SetInt(mantissa.Mul(mantissa, powerOfTen(exponent)))
	}
	return new(big.Rat).SetFrac(mantissa, powerOfTen(-exponent))
}

func powerOfTen(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }

// parseBoolean reads the usual words in any case, without blanks around.
func parseBoolean(text string) (value, ok bool) {
	switch strings.ToLower(text) {
	case "true", "t", "yes", "y", "on", "1":
		return true, true
	case "false", "f", "no", "n", "off", "0":
		return false, true
	}
	return false, false
}

func appendInteger(dst []byte, value int64, beyond int8) []byte {
	switch {
	case beyond > 0:
		return append(dst, "9223372036854775808"...)
	case beyond < 0:
		return append(dst, "-9223372036854775809"...)
	}
	return strconv.AppendInt(dst, value, 10)
}

func appendNumber(dst []byte, value float64) []byte {
	switch {
	case math.IsNaN(value):
		return append(dst, "nan"...)
	case math.IsInf(value, 0):
		if value < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "inf"...)
	case value == 0:
		return append(dst, '0') // either zero
	}
	text := strconv.FormatFloat(value, 'g', -1, 64)
	return append(dst, strings.Replace(text, "+", "", 1)...) // e+21: a '+' is a blank in a query
}

// exactText writes a decimal fraction exactly.
func exactText(r *big.Rat) string {
	places, _ := r.FloatPrec()
	text := r.FloatString(places)
	if len(text) <= longestDigits {
		return text
	}
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	digits := strings.TrimLeft(strings.ReplaceAll(text, ".", ""), "0")
	short := strings.TrimRight(digits, "0")
	return sign + short + "e" + strconv.Itoa(len(digits)-len(short)-places)
}

// longestDigits is the length from which on a decimal is written with an exponent.
const longestDigits = 32
