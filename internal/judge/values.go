package judge

import (
	"cmp"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// parseInteger reads an integer of any size. A sign, single underscores between digits, blanks at
// both ends and a fraction of zeros are allowed.
func parseInteger(text string) (*big.Int, bool) {
	text = strings.TrimFunc(text, unicode.IsSpace)
	if whole, fraction, found := strings.Cut(text, "."); found {
		if fraction == "" || strings.Trim(fraction, "0") != "" {
			return nil, false
		}
		text = whole
	}
	digits, negative := strings.TrimPrefix(text, "+"), false
	if digits == text {
		digits = strings.TrimPrefix(text, "-")
		negative = digits != text
	}
	for _, group := range strings.Split(digits, "_") {
		if group == "" || strings.Trim(group, "0123456789") != "" {
			return nil, false
		}
	}
	v, ok := new(big.Int).SetString(strings.ReplaceAll(digits, "_", ""), 10)
	if ok && negative {
		v.Neg(v)
	}
	return v, ok
}

// numberText checks the forms that floats and decimals share, and returns the number without blanks
// and underscores. word is set for inf and nan.
func numberText(text string) (number string, word bool, ok bool) {
	text = strings.TrimFunc(text, unicode.IsSpace)
	if strings.HasPrefix(text, "_") || strings.HasSuffix(text, "_") || strings.Contains(text, "__") {
		return "", false, false
	}
	text = strings.ReplaceAll(text, "_", "")
	rest := strings.TrimLeft(text, "+-")
	if len(text)-len(rest) > 1 {
		return "", false, false
	}
	switch strings.ToLower(rest) {
	case "inf", "infinity", "nan":
		return strings.ToLower(text), true, true
	}
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(rest), "e")
	if hasExponent {
		digits := exponent
		if digits != "" && (digits[0] == '+' || digits[0] == '-') {
			digits = digits[1:]
		}
		if digits == "" || strings.Trim(digits, "0123456789") != "" {
			return "", false, false
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return "", false, false
	}
	return text, false, true
}

func parseFloat(text string) (float64, bool) {
	number, word, ok := numberText(text)
	if !ok {
		return 0, false
	}
	if word {
		number = strings.TrimPrefix(number, "+")
		if strings.HasSuffix(number, "nan") {
			number = "nan"
		}
	}
	v, _ := strconv.ParseFloat(number, 64) // too large a number becomes infinite, as required
	return v, true
}

// exact is a decimal number as digits and a power of ten, so that comparing needs no expansion of
// large exponents.
type exact struct {
	sign   int
	digits string // without zeros at either end
	scale  int    // the value is 0.digits times ten to the scale
}

// parseExact parses a number that numberText accepted.
func parseExact(number string) exact {
	v := exact{sign: 1}
	if number[0] == '-' {
		v.sign = -1
	}
	number = strings.ToLower(strings.TrimLeft(number, "+-"))
	mantissa, exponent, _ := strings.Cut(number, "e")
	shift := 0
	if exponent != "" {
		if n, err := strconv.Atoi(exponent); err == nil {
			shift = n
		} else if shift = 1 << 40; exponent[0] == '-' {
			shift = -shift
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	v.digits = strings.TrimLeft(all, "0")
	v.scale = len(whole) - (len(all) - len(v.digits)) + shift
	v.digits = strings.TrimRight(v.digits, "0")
	if v.digits == "" {
		return exact{}
	}
	return v
}

// text is the same for equal numbers, and for no others. Integers of common size have no exponent.
func (a exact) text() string {
	if a.sign == 0 {
		return "0"
	}
	sign := "-"[:(1-a.sign)/2]
	switch {
	case a.scale < -20 || a.scale > 40:
		return sign + "0." + a.digits + "e" + strconv.Itoa(a.scale)
	case a.scale <= 0:
		return sign + "0." + strings.Repeat("0", -a.scale) + a.digits
	case a.scale >= len(a.digits):
		return sign + a.digits + strings.Repeat("0", a.scale-len(a.digits))
	}
	return sign + a.digits[:a.scale] + "." + a.digits[a.scale:]
}

func (a exact) compare(b exact) int {
	if a.sign < 0 && b.sign < 0 {
		a, b = b, a
	}
	return cmp.Or(cmp.Compare(a.sign, b.sign), cmp.Compare(a.scale, b.scale), cmp.Compare(a.digits, b.digits))
}

func parseBool(text string) (bool, bool) {
	switch strings.ToLower(text) {
	case "true", "t", "yes", "y", "on", "1":
		return true, true
	case "false", "f", "no", "n", "off", "0":
		return false, true
	}
	return false, false
}

// digitsAt reads a run of ASCII digits.
func digitsAt(text string, from, to int) (int, bool) {
	if to > len(text) {
		return 0, false
	}
	n := 0
	for _, c := range []byte(text[from:to]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

func realDay(y, m, d int) bool {
	if m < 1 || m > 12 || d < 1 {
		return false
	}
	return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Day() == d
}

// spans are the forms of start_date and end_date by their length, with the length of what each
// names.
var spans = map[int]struct {
	layout              string
	years, months, days int
}{
	4:  {"2006", 1, 0, 0},
	7:  {"2006-01", 0, 1, 0},
	10: {"2006-01-02", 0, 0, 1},
	19: {"2006-01-02T15:04:05", 0, 0, 0},
}

// parseInstant reads start_date or end_date. A short form means the start of its span in
// start_date, and the start of the next span in end_date.
func parseInstant(text string, end bool) (time.Time, bool) {
	span, known := spans[len(text)]
	if !known {
		return time.Time{}, false
	}
	t, err := time.Parse(span.layout, text)
	if err != nil || t.Year() == 0 || t.Year() == 9999 {
		return time.Time{}, false
	}
	if end {
		t = t.AddDate(span.years, span.months, span.days)
	}
	return t, true
}

// parseDateTime reads a date-time parameter. For a bad one it returns the reason if the contract
// fixes its text, and "" if any reason will do.
func parseDateTime(text string) (t time.Time, reason string, ok bool) {
	if t, ok := unixTime(text); ok {
		return t, "", true
	}
	if len(text) < 10 { // the reference library counts bytes
		return t, "input is too short", false
	}
	year, okYear := digitsAt(text, 0, 4)
	month, okMonth := digitsAt(text, 5, 7)
	day, okDay := digitsAt(text, 8, 10)
	if !okYear || !okMonth || !okDay || text[4] != '-' || text[7] != '-' || year == 0 {
		return t, "", false
	}
	if month < 1 || month > 12 {
		return t, "month value is outside expected range of 1-12", false
	}
	if !realDay(year, month, day) {
		return t, "day value is outside expected range", false
	}
	t = time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if len(text) == 10 {
		return t, "", true
	}
	if !strings.ContainsRune("Tt _", rune(text[10])) {
		return t, "", false
	}
	since, ok := clock(text[11:])
	return t.Add(since), "", ok
}

// clockForm is HH:MM, with optional seconds, fraction of up to nine digits, and zone.
var clockForm = regexp.MustCompile(`^([01][0-9]|2[0-3]):([0-5][0-9])` +
	`(?::([0-5][0-9])(?:[.,]([0-9]{1,9}))?)?` +
	`(?:[Zz]|([+-])([01][0-9]|2[0-3]):?([0-5][0-9]))?$`)

// clock reads the time of a day and returns the time since the day began in UTC. Digits below a
// microsecond are cut.
func clock(text string) (time.Duration, bool) {
	parts := clockForm.FindStringSubmatch(text)
	if parts == nil {
		return 0, false
	}
	count := func(digits string, unit time.Duration) time.Duration {
		n, _ := strconv.Atoi(cmp.Or(digits, "0")) // only digits match
		return time.Duration(n) * unit
	}
	since := count(parts[1], time.Hour) + count(parts[2], time.Minute) + count(parts[3], time.Second)
	since += count((parts[4] + "000000")[:6], time.Microsecond)
	offset := count(parts[6], time.Hour) + count(parts[7], time.Minute)
	if parts[5] == "-" {
		offset = -offset
	}
	return since - offset, true
}

// unixTime reads seconds since 1970, or milliseconds if the number is above 2e10.
func unixTime(text string) (time.Time, bool) {
	digits := strings.TrimLeft(text, "+-")
	whole, fraction, _ := strings.Cut(digits, ".")
	if len(text)-len(digits) > 1 || len(whole) > 14 || len(fraction) > 6 || whole+fraction == "" ||
		strings.Trim(whole+fraction, "0123456789") != "" {
		return time.Time{}, false
	}
	whole = "0" + whole
	seconds, _ := strconv.ParseInt(whole, 10, 64)
	micros, _ := strconv.ParseInt((fraction + "000000")[:6], 10, 64)
	if seconds >= 20_000_000_000 && (seconds > 20_000_000_000 || micros > 0) {
		micros = seconds*1000 + micros/1000
	} else {
		micros += seconds * 1_000_000
	}
	if text[0] == '-' {
		micros = -micros
	}
	return time.UnixMicro(micros).UTC(), true
}
