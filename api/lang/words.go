package lang

import (
	"math"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// Count is a number of things. As a text it has narrow spaces between thousands.
type Count int

// String implements fmt.Stringer.
func (c Count) String() string { return (*Language)(nil).Number(strconv.Itoa(int(c))) }

// PluralForm implements plural.Interface.
func (c Count) PluralForm(t language.Tag, _ int) (form plural.Form, n int) {
	n = int(max(c, -c)) % 10_000_000
	return plural.Cardinal.MatchPlural(t, n, 0, 0, 0, 0), n
}

// Number is a number as pages write it, without zeros at the end of a fraction. One with an
// exponent stays as it is.
func (l *Language) Number(text string) string {
	if strings.ContainsAny(text, "eE") {
		return text
	}
	whole, fraction, _ := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = l.minus(), whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "\u202f" + whole[i:]
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		whole += l.own().decimal + fraction
	}
	return sign + whole
}

// minus is the sign of negative numbers. From right to left it has a mark before it, without which
// it would stand behind the number.
func (l *Language) minus() string {
	if l.IsRTL() {
		return "\u200e\u2212"
	}
	return "\u2212"
}

// Scales are the powers of ten that have a name, the greatest first: in a number, and before the
// unit of an axis.
var Scales = []struct {
	Size       float64
	Text, Axis string
}{
	{1e12, "%s trillion", "trillion %s"}, {1e9, "%s billion", "billion %s"}, {1e6, "%s million", "million %s"},
}

// Rounded is a number as people read it: 24.8 million.
func (l *Language) Rounded(text string) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	sign := ""
	if v <= -0.05 { // what is rounded to 0 has no sign
		sign = l.minus()
	}
	v = math.Abs(v)
	for _, s := range Scales {
		if v >= s.Size-s.Size/2e4 { // which one decimal rounds up to it
			tenths := int(math.Round(v / s.Size * 10))
			return sign + l.T(s.Text, decimal{tenths, l.oneDecimal(v / s.Size)})
		}
	}
	if v >= 1000 {
		return sign + Count(math.Round(v)).String()
	}
	return sign + l.oneDecimal(v)
}

// decimal is a number with one digit after the point, or none where that is 0.
type decimal struct {
	tenths int
	text   string
}

// String implements fmt.Stringer.
func (d decimal) String() string { return d.text }

// PluralForm implements plural.Interface.
func (d decimal) PluralForm(t language.Tag, _ int) (form plural.Form, n int) {
	digit := d.tenths % 10
	return plural.Cardinal.MatchPlural(t, d.tenths/10, min(digit, 1), min(digit, 1), digit, digit), d.tenths / 10
}

// oneDecimal rounds half away from zero, as figures are rounded.
func (l *Language) oneDecimal(v float64) string {
	return l.Number(strconv.FormatFloat(math.Round(v*10)/10, 'f', 1, 64))
}

// Day is the day of a time in UTC, empty for the zero time.
func (l *Language) Day(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	at = at.UTC()
	return l.T("day %[1]s, month %[2]s, year %[3]s", at.Format("2"), l.month(at), at.Format("2006"))
}

func (l *Language) month(at time.Time) string { return l.T(at.Format("January")) }

// Minute is a time in UTC.
func (l *Language) Minute(at time.Time) string {
	return l.T("%[1]s, %[2]s UTC", l.Day(at), at.UTC().Format("15:04"))
}

// DayOf is a day that begins with its form of ISO 8601. Another text stays as it is.
func (l *Language) DayOf(text string) string {
	at, err := time.Parse(time.DateOnly, text[:min(len(text), len(time.DateOnly))])
	if err != nil {
		return text
	}
	return l.Day(at)
}

// Until is a value that a publication of a day has replaced.
func Until(l *Language, value, day string) string {
	return l.T("%[1]s until the publication of %[2]s", value, l.DayOf(day))
}

// Between is the time between two days as ISO 8601 has it, with two dots for an open end.
func (l *Language) Between(interval string) string {
	from, to, both := strings.Cut(interval, "/")
	switch {
	case !both:
		return ""
	case to == "..":
		return l.T("the time from %s", l.DayOf(from))
	case from == "..":
		return l.T("the time up to %s", l.DayOf(to))
	}
	return l.T("days %s to %s", l.DayOf(from), l.DayOf(to))
}

// Instant is the form of a time in records.
const Instant = "2006-01-02T15:04:05"

// Period is the time of a figure in words, as short as it can be: 2024, or January to March 2025.
func (l *Language) Period(from, to string) string {
	start, err := time.Parse(Instant, from)
	if err != nil {
		return ""
	}
	end, err := time.Parse(Instant, to)
	if err != nil {
		return l.T("since %s", l.Day(start))
	}
	month := func(at time.Time) string { return l.T("month %[1]s, year %[2]s", l.month(at), at.Format("2006")) }
	next := end.AddDate(0, 0, 1)
	isMonths := start.Day() == 1 && next.Day() == 1
	isYears := isMonths && start.Month() == time.January && end.Month() == time.December
	sameYear := start.Year() == end.Year()
	first, last := l.Day(start), l.Day(end)
	switch {
	case isYears:
		first, last = start.Format("2006"), end.Format("2006")
	case isMonths && sameYear && start.Month() != end.Month():
		first, last = l.month(start), month(end)
	case isMonths:
		first, last = month(start), month(end)
	case sameYear && end.Sub(start) >= 24*time.Hour:
		first = l.T("day %[1]s, month %[2]s", start.Format("2"), l.month(start))
	case end.Sub(start) < 24*time.Hour:
		return first
	}
	switch {
	case first == last:
		return first
	case isMonths:
		return l.T("%s to %s", first, last)
	}
	return l.T("days %s to %s", first, last)
}

// monthsOld is the age in months from which a figure counts as old: of a month, and of a year,
// which is published in the year after.
const monthsOld, yearsOld = 6, 18

// Age says how old a figure is that ends on a day, seen from another one. It is empty for one that
// is as new as those of its kind are.
func Age(l *Language, end, seen string, isMonthly bool) string {
	of, err := time.Parse(time.DateOnly, end[:min(len(end), len(time.DateOnly))])
	at, failed := time.Parse(time.DateOnly, seen)
	months := (at.Year()-of.Year())*12 + int(at.Month()) - int(of.Month())
	least := yearsOld
	if isMonthly {
		least = monthsOld
	}
	switch {
	case err != nil || failed != nil || months < least:
		return ""
	case isMonthly && months < 24:
		return l.T("%s months old", Count(months))
	}
	return l.T("%s years old", Count((months+6)/12))
}
