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

var (
	integerForm = regexp.MustCompile(`^([+-]?[0-9]+(?:_[0-9]+)*)(?:\.0+)?$`)
	numberForm  = regexp.MustCompile(`(?i)^[+-]?(?:(inf|infinity|nan)|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)$`)
	dateForm    = regexp.MustCompile(`^([0-9]{4})-([0-9]{2})-([0-9]{2})`)
	unixForm    = regexp.MustCompile(`^[+-]?([0-9]{0,14})(?:\.([0-9]{0,6}))?$`)
)

// parseInteger reads an integer of any size. A sign, single underscores between digits, blanks at
// both ends and a fraction of zeros are allowed.
func parseInteger(text string) (*big.Int, bool) {
	parts := integerForm.FindStringSubmatch(strings.TrimFunc(text, unicode.IsSpace))
	if parts == nil {
		return nil, false
	}
	return new(big.Int).SetString(strings.ReplaceAll(parts[1], "_", ""), 10)
}

// numberText checks the forms that floats and decimals share, and returns the number without blanks
// and underscores. word is set for inf and nan.
func numberText(text string) (number string, word bool, ok bool) {
	text = strings.TrimFunc(text, unicode.IsSpace)
	if strings.HasPrefix(text, "_") || strings.HasSuffix(text, "_") || strings.Contains(text, "__") {
		return "", false, false
	}
	text = strings.ReplaceAll(text, "_", "")
	parts := numberForm.FindStringSubmatch(text)
	if parts == nil {
		return "", false, false
	}
	if parts[1] != "" {
		return strings.ToLower(text), true, true
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

// exactOf is the exact value of a number that numberText accepted. An exponent beyond those of
// stored numbers counts as the largest or the smallest, since its digits would fill the memory.
func exactOf(number string) *big.Rat {
	const most = 5000
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	if exponent != "" {
		n, err := strconv.Atoi(exponent)
		switch {
		case err != nil && exponent[0] == '-', n < -most:
			n = -most
		case err != nil, n > most:
			n = most
		}
		mantissa += "e" + strconv.Itoa(n)
	}
	v, ok := new(big.Rat).SetString(mantissa)
	if !ok {
		panic("no number: " + number)
	}
	return v
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

func digits(text string) int {
	n, _ := strconv.Atoi(cmp.Or(text, "0"))
	return n
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
	parts := dateForm.FindStringSubmatch(text)
	if parts == nil || parts[1] == "0000" {
		return t, "", false
	}
	year, month, day := digits(parts[1]), digits(parts[2]), digits(parts[3])
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
	count := func(text string, unit time.Duration) time.Duration { return time.Duration(digits(text)) * unit }
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
	parts := unixForm.FindStringSubmatch(text)
	if parts == nil || parts[1]+parts[2] == "" {
		return time.Time{}, false
	}
	seconds, micros := int64(digits(parts[1])), int64(digits((parts[2] + "000000")[:6]))
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
