package loader

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Instants are microseconds since 1970-01-01T00:00:00 without a zone, as in snapshot.
const (
	second = int64(time.Second / time.Microsecond)
	day    = 86_400 * second
)

const periodStart, periodEnd = "reference_period_start", "reference_period_end"

// parseDay reads the first ten characters of a date cell, YYYY-MM-DD, and gives that day's
// midnight. The source means whole days: the first or the last second of a day may follow, and an
// offset, which is ignored, as in 2022-12-31 23:59:59+00:00. Any other time of day is that of
// another zone, where the day is another one.
func parseDay(cell []byte) (midnight int64, ok bool) {
	at, ok := parseInstant(cell)
	if !ok {
		return 0, false
	}
	if of := (at%day + day) % day; of != 0 && of < day-second {
		return 0, false
	}
	return parseTime(time.DateOnly, string(cell[:10]))
}

// endOfDay is the last second of the day that begins at midnight: the end of every period.
func endOfDay(midnight int64) int64 { return midnight + day - second }

// instantForm is YYYY-MM-DD, or that with a time of day: a blank or T, HH:MM:SS, up to six digits
// of fraction, and an offset (Z, +00, +00:00) that is ignored.
var instantForm = regexp.MustCompile(
	`^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d(?:\.\d{1,6})?)(?:Z|[+-]\d\d(?::\d\d)?)?)?$`)

// parseInstant reads an instant of instantForm, of the years 1 to 9999.
func parseInstant(cell []byte) (int64, bool) {
	if len(cell) == len(time.DateOnly) {
		return parseTime(time.DateOnly, string(cell))
	}
	parts := instantForm.FindSubmatch(cell)
	if parts == nil {
		return 0, false
	}
	return parseTime(time.DateTime, string(parts[1])+" "+string(parts[2]))
}

func parseTime(layout, text string) (int64, bool) {
	t, err := time.Parse(layout, text)
	return t.UnixMicro(), err == nil && t.Year() >= 1
}

// parseInt parses an integer of at most 18 digits; older files write it with a fraction of zeros,
// as in 12.0. Three zeros are none: in many languages 12.000 is twelve thousand.
func parseInt(cell []byte) (int64, bool) {
	digits, fraction, _ := bytes.Cut(cell, []byte{'.'})
	if len(bytes.Trim(fraction, "0")) > 0 || len(fraction) == len("000") || len(bytes.TrimLeft(digits, "+-")) > 18 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(digits), 10, 64)
	return n, err == nil
}

// isEmptyWord reports whether a text is what programs write for an empty cell or for a formula that
// has failed. Words that people write too, such as NA and none, may be names.
func isEmptyWord(cell []byte) bool {
	switch string(cell) {
	case "nan", "NaN", "NaT", "<NA>", "None", "NULL", "null", `\N`,
		"#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NUM!", "#NULL!":
		return true
	}
	return false
}

// parseFlag parses the three forms of booleans in files: Y/N, True/False, t/f, in any case.
func parseFlag(cell []byte) (value, ok bool) {
	switch strings.ToLower(string(cell)) {
	case "y", "t", "true":
		return true, true
	case "n", "f", "false":
		return false, true
	}
	return false, false
}
