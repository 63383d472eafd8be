package contract

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// parseDay reads start_date or end_date: YYYY, YYYY-MM, YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS. The
// result, in microseconds, is the first instant of that span, or the first one after it if after is
// true. A full date-time is the instant itself.
func parseDay(text string, after bool) (micros int64, ok bool) {
	years, months, days := 0, 0, 1
	date, clock := text, ""
	switch len(text) {
	case len("2006"):
		years, days = 1, 0
	case len("2006-01"):
		months, days = 1, 0
	case len("2006-01-02"):
	case len("2006-01-02T15:04:05"):
		date, clock = text[:len("2006-01-02")], text[len("2006-01-02"):]
	default:
		return 0, false
	}
	var first [len("2006-01-02")]byte
	copy(first[:], "2006-01-01")
	copy(first[:], date)
	micros, reason := parseDate(string(first[:]))
	if reason != "" || text[:4] == "9999" {
		return 0, false
	}
	if clock != "" {
		sinceMidnight, reason := parseTime(clock)
		return micros + sinceMidnight, reason == "" && clock[0] == 'T' && clock[6] == ':'
	}
	if after {
		micros = time.UnixMicro(micros).UTC().AddDate(years, months, days).UnixMicro()
	}
	return micros, true
}

// fixedDigits reads ASCII digits only.
func fixedDigits(text string) (n int, ok bool) {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n = n*10 + int(text[i]-'0')
	}
	return n, true
}

// Reasons why a text is not a date or date-time that several readers give.
const (
	tooShort      = "input is too short"
	badDay        = "invalid character in day"
	badDateSep    = "invalid date separator, expected `-`"
	yearZero      = "year 0 is out of range"
	extra         = "unexpected extra characters at the end of the input"
	badSecond     = "invalid character in second"
	badZoneHour   = "invalid timezone hour"
	badZoneMinute = "invalid timezone minute"
)

// dateTimeFault is why a text is not a date-time: the reasons of reading it as a date-time and as a
// date, which are two issues. The zero value is no fault.
type dateTimeFault struct{ dateTime, date string }

func (f dateTimeFault) isFault() bool { return f.date != "" }

// parseDateTime reads a date-time parameter: a date (midnight), a date with a time and maybe a
// zone, or a Unix time in seconds, or in milliseconds above 2e10. Zones are applied and dropped.
func parseDateTime(text string) (micros int64, fault dateTimeFault) {
	days, reason := parseDate(text)
	if reason != "" {
		if number, isNumber := unixNumber(text); isNumber {
			if micros, reason = unixTime(number); reason == "" {
				return micros, dateTimeFault{}
			}
		}
		return 0, dateTimeFault{dateTime: reason, date: reason}
	}
	if len(text) == len("2006-01-02") {
		return days, dateTimeFault{}
	}
	clock, reason := parseTime(text[len("2006-01-02"):])
	if reason != "" {
		return 0, dateTimeFault{dateTime: extra, date: reason}
	}
	return days + clock, dateTimeFault{}
}

// parseDate reads the first ten bytes.
func parseDate(text string) (micros int64, reason string) {
	if len(text) < len("2006-01-02") {
		return 0, tooShort
	}
	year, okYear := fixedDigits(text[:4])
	month, okMonth := fixedDigits(text[5:7])
	day, okDay := fixedDigits(text[8:10])
	switch {
	case !okYear:
		return 0, "invalid character in year"
	case text[4] != '-':
		return 0, badDateSep
	case !okMonth:
		return 0, "invalid character in month"
	case text[7] != '-':
		return 0, badDateSep
	case !okDay:
		return 0, badDay
	case month < 1 || month > 12:
		return 0, "month value is outside expected range of 1-12"
	}
	date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	switch {
	case date.Day() != day: // time.Date counts on in the next month
		return 0, "day value is outside expected range"
	case year == 0:
		return 0, yearZero
	}
	return date.UnixMicro(), ""
}

// parseTime reads what follows a date: separator, HH:MM, maybe :SS, a fraction and a zone.
func parseTime(text string) (micros int64, reason string) {
	if strings.IndexByte("Tt _", text[0]) < 0 {
		return 0, "invalid datetime separator, expected `T`, `t`, `_` or space"
	}
	text = text[1:]
	if len(text) < len("15:04") {
		return 0, tooShort
	}
	hour, okHour := fixedDigits(text[:2])
	minute, okMinute := fixedDigits(text[3:5])
	switch {
	case !okHour:
		return 0, "invalid character in hour"
	case text[2] != ':':
		return 0, "invalid time separator, expected `:`"
	case !okMinute:
		return 0, "invalid character in minute"
	case hour > 23:
		return 0, "hour value is outside expected range of 0-23"
	case minute > 59:
		return 0, "minute value is outside expected range of 0-59"
	}
	micros = int64(hour*3600+minute*60) * 1e6
	text = text[5:]
	if strings.HasPrefix(text, ":") {
		second, rest, reason := parseSeconds(text[1:])
		if reason != "" {
			return 0, reason
		}
		micros, text = micros+second, rest
	}
	offset, reason := parseZone(text)
	return micros - offset, reason
}

// parseSeconds reads SS and a fraction. Digits after the sixth are dropped.
func parseSeconds(text string) (micros int64, rest, reason string) {
	if len(text) < 2 {
		return 0, "", badSecond
	}
	second, ok := fixedDigits(text[:2])
	if !ok {
		return 0, "", badSecond
	}
	if second > 59 {
		return 0, "", "second value is outside expected range of 0-59"
	}
	micros, text = int64(second)*1e6, text[2:]
	if text == "" || (text[0] != '.' && text[0] != ',') {
		return micros, text, ""
	}
	digits := 1
	for unit := int64(1e5); digits < len(text) && '0' <= text[digits] && text[digits] <= '9'; digits++ {
		micros += int64(text[digits]-'0') * unit
		unit /= 10
	}
	if digits == 1 {
		return 0, "", "second fraction digits missing after `.`"
	}
	return micros, text[digits:], ""
}

// parseZone reads Z, ±hh:mm or ±hhmm at the end of a date-time, or nothing.
func parseZone(text string) (micros int64, reason string) {
	if text == "" {
		return 0, ""
	}
	sign := int64(1e6)
	switch {
	case text[0] == 'Z' || text[0] == 'z':
		if len(text) > 1 {
			return 0, extra
		}
		return 0, ""
	case text[0] == '+':
		text = text[1:]
	case text[0] == '-':
		sign, text = -sign, text[1:]
	case strings.HasPrefix(text, "\u2212"): // the typographic minus
		sign, text = -sign, text[len("\u2212"):]
	default:
		return 0, "invalid timezone sign"
	}
	if len(text) < 2 {
		return 0, badZoneHour
	}
	hour, ok := fixedDigits(text[:2])
	if !ok {
		return 0, badZoneHour
	}
	text = strings.TrimPrefix(text[2:], ":")
	if len(text) < 2 {
		return 0, badZoneMinute
	}
	minute, ok := fixedDigits(text[:2])
	switch {
	case !ok:
		return 0, badZoneMinute
	case minute > 59:
		return 0, "timezone minute value is outside expected range of 0-59"
	case hour > 23:
		return 0, "timezone offset must be less than 24 hours"
	case len(text) > 2:
		return 0, extra
	}
	return sign * int64(hour*3600+minute*60), ""
}

// unixNumber reads a Unix time: an optional sign and digits, or digits with a point among them.
func unixNumber(text string) (float64, bool) {
	digits := text
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		digits = digits[1:]
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	if (whole == "" && fraction == "") || (whole != "" && !isDigits(whole, false)) ||
		(fraction != "" && !isDigits(fraction, false)) {
		return 0, false
	}
	if _, err := strconv.ParseInt("0"+whole, 10, 64); err != nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}

// unixTime converts seconds, or milliseconds if the number is beyond ±2e10.
func unixTime(seconds float64) (micros int64, reason string) {
	const watershed = 2e10
	scale := 1e6
	if math.Abs(seconds) > watershed {
		scale = 1e3
	}
	startOf := func(year int) float64 { return float64(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Unix()) }
	switch at := math.Floor(seconds * scale / 1e6); {
	case at < startOf(0):
		return 0, "dates before 0000 are not supported as unix timestamps"
	case at < startOf(1):
		return 0, yearZero
	case at >= startOf(10000):
		return 0, "dates after 9999 are not supported as unix timestamps"
	}
	whole, fraction := math.Modf(seconds)
	return int64(whole)*int64(scale) + int64(math.Round(fraction*scale)), ""
}

// hasInstant reports whether a time can be written as an instant in a query: those at both ends
// cannot.
func hasInstant(micros int64) bool {
	year := time.UnixMicro(micros).UTC().Year()
	return year >= 1 && year < 9999
}

func appendInstant(dst []byte, at time.Time) []byte {
	if at.Nanosecond() != 0 {
		return at.AppendFormat(dst, "2006-01-02T15:04:05.000000")
	}
	dst = at.AppendFormat(dst, time.RFC3339) // which package time formats much faster than other forms
	return dst[:len(dst)-len("Z")]
}
