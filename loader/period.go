package loader

import (
	"fmt"
	"regexp"
	"time"

	"hdqs/snapshot"
)

// Instants are microseconds since 1970-01-01T00:00:00 without a zone, as in snapshot.
const (
	second = int64(time.Second / time.Microsecond)
	day    = 86_400 * second
)

// parseDay reads the first ten characters of a date cell, YYYY-MM-DD, and gives that day's
// midnight. What may follow, a time of day and an offset as in 2022-12-31 23:59:59+00:00, is
// checked for its form and ignored: the source means whole days.
func parseDay(cell []byte) (midnight int64, ok bool) {
	if _, ok := parseInstant(cell); !ok {
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

// mostYearsAhead is how long after the load a period may start: plans and projections are of the
// next years. No series begins before 1900. A start beyond these is a slip of a digit.
const mostYearsAhead = 5

// month matches names of months in English, French, Spanish, Portuguese and German.
const month = `(?:jan|ene|f[eé][bv]|m[aä]r|apr|a[bv]r|ma[iy]|ju[inl]|aug|ao[uû]|ago|sep|set|o[cku]t|nov|d[eéi][ciz])` +
	`(?:\pL?\.?|il|ch|ust|\pL*ary|\pL*ber)`

// dateAsAge matches what spreadsheets make of a range of ages such as 5-9: 09-May, May-09, a date.
var dateAsAge = regexp.MustCompile(`(?i)^(?:\d{1,4}[-/. ]*` + month + `(?:[-/. ]*\d{1,4})?|` +
	month + `[-/. ]*\d{1,4}|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T].*)?|\d{1,2}/\d{1,4})$`)

// wrong says what is wrong with the next tuple of a group of periods or ages, in a load of this
// time. It is empty when nothing is, and for other groups.
func (g *tuples) wrong(now int64) (why reason, detail string) {
	value := func(name string) int64 { return g.column(name).int(g.n) }
	switch g.name {
	case "period":
		return wrongPeriod(value(periodStart), value(periodEnd), time.UnixMicro(now).UTC())
	case "age":
		return wrongAges(g.column("age_range").text(g.n), value("min_age"), value("max_age"))
	}
	return "", ""
}

func wrongPeriod(start, end int64, now time.Time) (why reason, detail string) {
	from, last := time.UnixMicro(start).UTC(), now.AddDate(mostYearsAhead, 0, 0)
	switch {
	case start == snapshot.NullInt:
	case from.Year() < 1900:
		return tooEarly, fmt.Sprintf("%s: %s, at least 1900-01-01", periodStart, from.Format(time.DateOnly))
	case from.After(last):
		return tooLate, fmt.Sprintf("%s: %s, at most %s, %d years after the load",
			periodStart, from.Format(time.DateOnly), last.Format(time.DateOnly), mostYearsAhead)
	case end != snapshot.NullInt && end < start:
		return endFirst, fmt.Sprintf("%s: %s", periodEnd, time.UnixMicro(end).UTC().Format(time.DateOnly))
	}
	return "", ""
}

func wrongAges(text string, least, most int64) (why reason, detail string) {
	var from, to int
	_, err := fmt.Sscanf(text, "%d-%d", &from, &to)
	switch {
	case dateAsAge.MatchString(text):
		return ageIsDate, fmt.Sprintf("age_range: %q, expected a form such as 5-9, 80+ or all", clip(text, 120))
	case err == nil && from > to, least != snapshot.NullInt && most != snapshot.NullInt && least > most:
		return agesReversed, fmt.Sprintf("age_range: %q, min_age: %d, max_age: %d", clip(text, 120), least, most)
	}
	return "", ""
}
