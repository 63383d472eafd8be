package country

import (
	"math"
	"strconv"
	"strings"
	"time"

	"hdqs/api/browse"
)

// Rounded is a number as people read it: 24.8 million.
func Rounded(text string) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	sign := ""
	if v < 0 {
		sign, v = "\u2212", -v
	}
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, " trillion"}, {1e9, " billion"}, {1e6, " million"}} {
		if v >= unit.size-unit.size/2e4 { // which one decimal rounds up to it
			return sign + oneDecimal(v/unit.size) + unit.name
		}
	}
	if v >= 1000 {
		return sign + browse.Count(int(math.Round(v)))
	}
	return sign + oneDecimal(v)
}

// oneDecimal rounds half away from zero, as figures are rounded.
func oneDecimal(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(math.Round(v*10)/10, 'f', 1, 64), ".0")
}

// timeFormat is a time in records.
const timeFormat = "2006-01-02T15:04:05"

// periodText is a period in words, as short as it can be: 2024, or January to March 2025.
func periodText(from, to string) string {
	start, err := time.Parse(timeFormat, from)
	if err != nil {
		return ""
	}
	const day, month = "2 January 2006", "January 2006"
	end, err := time.Parse(timeFormat, to)
	if err != nil {
		return "since " + start.Format(day)
	}
	next := end.AddDate(0, 0, 1)
	isMonths := start.Day() == 1 && next.Day() == 1
	sameYear := start.Year() == end.Year()
	switch {
	case isMonths && start.Month() == time.January && end.Month() == time.December && sameYear:
		return start.Format("2006")
	case isMonths && start.Month() == time.January && end.Month() == time.December:
		return start.Format("2006") + " to " + end.Format("2006")
	case isMonths && sameYear && start.Month() == end.Month():
		return start.Format(month)
	case isMonths && sameYear:
		return start.Format("January") + " to " + end.Format(month)
	case isMonths:
		return start.Format(month) + " to " + end.Format(month)
	case end.Sub(start) < 24*time.Hour:
		return start.Format(day)
	case sameYear:
		return start.Format("2 January") + " to " + end.Format(day)
	}
	return start.Format(day) + " to " + end.Format(day)
}

// unitNames are the units of a level in words, by level.
var unitNames = [levels]string{"the whole country", "provinces", "districts"}

// coverageText says of how much of the country a figure is, empty if that is not known.
func coverageText(level, units, known string) string {
	n, err := strconv.Atoi(level)
	switch {
	case err == nil && (n < 0 || n >= levels):
		return ""
	case units != "" && known != "" && err == nil && n > 0:
		return units + " of " + known + " " + unitNames[n]
	case units != "" && known != "":
		return units + " of " + known + " units"
	case err == nil:
		return unitNames[n]
	}
	return ""
}
