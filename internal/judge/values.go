package judge

import (
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// parseInteger reads an integer of any size: sign, single underscores between
// digits, blanks around and a fraction of zeros are fine.
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

// numberText checks the forms that floats and decimals share and returns the
// number without blanks and underscores. word is set for inf and nan.
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
	v, _ := strconv.ParseFloat(number, 64) // too large is infinite, as it should be
	return v, true
}

// exact is a decimal number as digits and a power of ten, so that comparing
// never has to write out an exponent of a million.
type exact struct {
	sign   int
	digits string // no zero at either end
	scale  int    // the value is 0.digits times ten to the scale
}

// parseExact reads what numberText let through.
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

func (a exact) less(b exact) bool {
	if a.sign != b.sign {
		return a.sign < b.sign
	}
	if a.sign < 0 {
		a, b = b, a
	}
	if a.scale != b.scale {
		return a.sign != 0 && a.scale < b.scale
	}
	return a.digits < b.digits
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

// parseInstant reads start_date or end_date. The short forms stand for the
// begin of their span, for end_date for the begin of the next one.
func parseInstant(text string, end bool) (time.Time, bool) {
	ok := true
	number := func(from, to int) int {
		n, fine := digitsAt(text, from, to)
		ok = ok && fine
		return n
	}
	mark := func(at int, c byte) { ok = ok && text[at] == c }
	month, day, hour, minute, second := 1, 1, 0, 0, 0
	if n := len(text); n != 4 && n != 7 && n != 10 && n != 19 {
		return time.Time{}, false
	}
	year := number(0, 4)
	step := [3]int{1, 0, 0}
	if len(text) >= 7 {
		mark(4, '-')
		month, step = number(5, 7), [3]int{0, 1, 0}
	}
	if len(text) >= 10 {
		mark(7, '-')
		day, step = number(8, 10), [3]int{0, 0, 1}
	}
	if len(text) == 19 {
		mark(10, 'T')
		mark(13, ':')
		mark(16, ':')
		hour, minute, second, step = number(11, 13), number(14, 16), number(17, 19), [3]int{}
	}
	if !ok || year == 0 || year == 9999 || !realDay(year, month, day) || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	if end {
		t = t.AddDate(step[0], step[1], step[2])
	}
	return t, true
}

// parseDateTime reads a date-time parameter. For a bad one it gives the
// reason where the contract fixes it and "" where any near one will do.
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

// clock reads HH:MM, HH:MM:SS, a fraction and a zone as the time since the
// day's begin in UTC.
func clock(text string) (time.Duration, bool) {
	body, offset := text, time.Duration(0)
	if at := strings.LastIndexAny(text, "+-"); at >= 0 {
		zone := text[at+1:]
		if len(zone) == 5 && zone[2] == ':' {
			zone = zone[:2] + zone[3:]
		}
		hours, ok1 := digitsAt(zone, 0, 2)
		minutes, ok2 := digitsAt(zone, 2, 4)
		if !ok1 || !ok2 || len(zone) != 4 || hours > 23 || minutes > 59 {
			return 0, false
		}
		body, offset = text[:at], time.Duration(hours)*time.Hour+time.Duration(minutes)*time.Minute
		if text[at] == '-' {
			offset = -offset
		}
	} else if strings.HasSuffix(text, "Z") || strings.HasSuffix(text, "z") {
		body = text[:len(text)-1]
	}
	hour, okHour := digitsAt(body, 0, 2)
	if !okHour || len(body) < 5 || body[2] != ':' || hour > 23 {
		return 0, false
	}
	minute, okMinute := digitsAt(body, 3, 5)
	if !okMinute || minute > 59 {
		return 0, false
	}
	since := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute - offset
	if body = body[5:]; body == "" {
		return since, true
	}
	second, okSecond := digitsAt(body, 1, 3)
	if !okSecond || body[0] != ':' || second > 59 {
		return 0, false
	}
	since += time.Duration(second) * time.Second
	if body = body[3:]; body == "" {
		return since, true
	}
	fraction := body[1:]
	if body[0] != '.' && body[0] != ',' || fraction == "" || len(fraction) > 9 {
		return 0, false
	}
	micros, ok := digitsAt((fraction + "000000")[:6], 0, 6)
	_, allDigits := digitsAt(fraction, 0, len(fraction))
	return since + time.Duration(micros)*time.Microsecond, ok && allDigits
}

// unixTime reads seconds, or milliseconds when above 2e10, since 1970.
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
