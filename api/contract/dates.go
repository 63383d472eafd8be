package contract

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// moment reads a date-time from its beginning. reason is why it is none: the first that was found.
type moment struct{ rest, reason string }

// Reasons that several steps give.
const (
	tooShort   = "input is too short"
	badDateSep = "invalid date separator, expected `-`"
	yearZero   = "year 0 is out of range"
	extra      = "unexpected extra characters at the end of the input"
)

func (m *moment) refuse(wrong bool, reason string) {
	if wrong && m.reason == "" {
		m.reason = reason
	}
}

// number reads so many ASCII digits.
func (m *moment) number(digits int, reason string) (n int) {
	if m.refuse(len(m.rest) < digits, reason); m.reason != "" {
		return 0
	}
	for i := range digits {
		c := m.rest[i]
		m.refuse(c < '0' || c > '9', reason)
		n = n*10 + int(c-'0')
	}
	m.rest = m.rest[digits:]
	return n
}

// separator reads one of some characters.
func (m *moment) separator(of, reason string) {
	if m.refuse(m.rest == "" || strings.IndexByte(of, m.rest[0]) < 0, reason); m.reason == "" {
		m.rest = m.rest[1:]
	}
}

// date reads YYYY-MM-DD, and returns its begin in microseconds.
func (m *moment) date() int64 {
	m.refuse(len(m.rest) < len("2006-01-02"), tooShort)
	year := m.number(4, "invalid character in year")
	m.separator("-", badDateSep)
	month := m.number(2, "invalid character in month")
	m.separator("-", badDateSep)
	day := m.number(2, "invalid character in day")
	m.refuse(month < 1 || month > 12, "month value is outside expected range of 1-12")
	date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	m.refuse(date.Day() != day, "day value is outside expected range") // time.Date counts on in the next month
	m.refuse(year == 0, yearZero)
	return date.UnixMicro()
}

// clock reads what follows a date: separator, HH:MM, maybe :SS, a fraction and a zone.
func (m *moment) clock() (micros int64) {
	m.separator("Tt _", "invalid datetime separator, expected `T`, `t`, `_` or space")
	m.refuse(len(m.rest) < len("15:04"), tooShort)
	hour := m.number(2, "invalid character in hour")
	m.separator(":", "invalid time separator, expected `:`")
	minute := m.number(2, "invalid character in minute")
	m.refuse(hour > 23, "hour value is outside expected range of 0-23")
	m.refuse(minute > 59, "minute value is outside expected range of 0-59")
	micros = int64(hour*3600+minute*60) * 1e6
	if strings.HasPrefix(m.rest, ":") {
		m.rest = m.rest[1:]
		micros += m.seconds()
	}
	return micros - m.zone()
}

// seconds reads SS and a fraction. Digits after the sixth are dropped.
func (m *moment) seconds() (micros int64) {
	second := m.number(2, "invalid character in second")
	m.refuse(second > 59, "second value is outside expected range of 0-59")
	micros = int64(second) * 1e6
	if m.rest == "" || m.rest[0] != '.' && m.rest[0] != ',' {
		return micros
	}
	digits := 1
	for unit := int64(1e5); digits < len(m.rest) && '0' <= m.rest[digits] && m.rest[digits] <= '9'; digits++ {
		micros += int64(m.rest[digits]-'0') * unit
		unit /= 10
	}
	m.refuse(digits == 1, "second fraction digits missing after `.`")
	m.rest = m.rest[digits:]
	return micros
}

// zone reads Z, ±hh:mm or ±hhmm at the end of a date-time, or nothing. The minus may be the
// typographic one.
func (m *moment) zone() (micros int64) {
	sign, size := utf8.DecodeRuneInString(m.rest)
	isUTC := sign == 'Z' || sign == 'z'
	if m.refuse(isUTC && len(m.rest) > 1, extra); isUTC || m.rest == "" {
		return 0
	}
	m.refuse(!strings.ContainsRune("+-\u2212", sign), "invalid timezone sign")
	m.rest = m.rest[size:]
	hour := m.number(2, "invalid timezone hour")
	if m.rest != "" && m.rest[0] == ':' { // strings.TrimPrefix would need memory
		m.rest = m.rest[1:]
	}
	minute := m.number(2, "invalid timezone minute")
	m.refuse(minute > 59, "timezone minute value is outside expected range of 0-59")
	m.refuse(hour > 23, "timezone offset must be less than 24 hours")
	m.refuse(m.rest != "", extra)
	if micros = int64(hour*3600+minute*60) * 1e6; sign != '+' {
		return -micros
	}
	return micros
}

// parseDay reads start_date or end_date: YYYY, YYYY-MM, YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS. The
// result, in microseconds, is the first instant of that span, or the first one after it if after is
// true. A full date-time is the instant itself.
func parseDay(text string, after bool) (micros int64, ok bool) {
	const day, full = "2006-01-01", "2006-01-02T15:04:05"
	years, months, days := 0, 0, 0
	switch len(text) {
	case len("2006"):
		years = 1
	case len("2006-01"):
		months = 1
	case len(day):
		days = 1
	case len(full):
		if text[len(day)] != 'T' || text[len("2006-01-02T15:04")] != ':' {
			return 0, false
		}
	default:
		return 0, false
	}
	m := moment{rest: text + day[min(len(text), len(day)):]}
	if micros = m.date(); len(text) == len(full) {
		micros += m.clock()
	}
	if after {
		micros = time.UnixMicro(micros).UTC().AddDate(years, months, days).UnixMicro()
	}
	return micros, m.reason == "" && text[:4] != "9999"
}

// dateTimeFault is why a text is not a date-time: the reasons of reading it as a date-time and as a
// date, which are two issues. The zero value is no fault.
type dateTimeFault struct{ dateTime, date string }

func (f dateTimeFault) isFault() bool { return f.date != "" }

// parseDateTime reads a date-time parameter: a date (midnight), a date with a time and maybe a
// zone, or a Unix time in seconds, or in milliseconds above 2e10. Zones are applied and dropped.
func parseDateTime(text string) (micros int64, fault dateTimeFault) {
	m := moment{rest: text}
	if micros = m.date(); m.reason != "" {
		if number, isNumber := unixNumber(text); isNumber {
			micros, m.reason = unixTime(number)
		}
		return micros, dateTimeFault{dateTime: m.reason, date: m.reason}
	}
	if m.rest == "" {
		return micros, fault
	}
	if micros += m.clock(); m.reason != "" {
		fault = dateTimeFault{dateTime: extra, date: m.reason}
	}
	return micros, fault
}

// unixNumber reads a Unix time: an optional sign and digits, or digits with a point among them.
func unixNumber(text string) (n float64, ok bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	_, tooLarge := strconv.ParseInt("0"+strings.TrimLeft(whole, "+-"), 10, 64)
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && tooLarge == nil && strings.Trim(fraction, "0123456789") == ""
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
