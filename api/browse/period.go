package browse

import "time"

// TimeFormat is a time in records.
const TimeFormat = "2006-01-02T15:04:05"

// Period is a period in words, as short as it can be: 2024, or January to March 2025.
func Period(from, to string) string {
	start, err := time.Parse(TimeFormat, from)
	if err != nil {
		return ""
	}
	const day, month = "2 January 2006", "January 2006"
	end, err := time.Parse(TimeFormat, to)
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
