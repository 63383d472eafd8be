package aggregate

import (
	"fmt"
	"strconv"
)

const microsPerDay = 86_400_000_000

// civil is the year and month of a time in microseconds since 1970, in UTC.
func civil(micros int64) (year int64, month int) {
	days := micros / microsPerDay
	if micros%microsPerDay < 0 {
		days--
	}
	// Years start in March here, so that a leap day is the last day of its year. An era is 400
	// years, the period of the calendar.
	days += 719_468 // from 0000-03-01 to 1970-01-01
	const daysPerEra = 146_097
	era := days / daysPerEra
	if days%daysPerEra < 0 {
		era--
	}
	day := days - era*daysPerEra
	yearOfEra := (day - day/1460 + day/36_524 - day/146_096) / 365
	dayOfYear := day - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	month = int((5*dayOfYear+2)/153) + 3
	year = yearOfEra + era*400
	if month > 12 {
		month -= 12
		year++
	}
	return year, month
}

// number is a number for the part of a time. It ascends with time.
func (p Part) number(micros int64) int64 {
	year, month := civil(micros)
	switch p {
	case Year:
		return year
	case Quarter:
		return year*4 + int64(month-1)/3
	case Month:
		return year*12 + int64(month-1)
	}
	return micros
}

// value is the year, quarter or month with that number, or the time itself.
func (p Part) value(n int64) Value {
	switch p {
	case Year:
		return Value{Kind: Int, Int: n}
	case Quarter:
		year := floorDiv(n, 4)
		return Value{Kind: Text, Text: yearText(year) + "-Q" + strconv.FormatInt(n-4*year+1, 10)}
	case Month:
		year := floorDiv(n, 12)
		month := strconv.FormatInt(100+n-12*year+1, 10)
		return Value{Kind: Text, Text: yearText(year) + "-" + month[1:]}
	}
	return Value{Kind: Time, Int: n}
}

// yearText has four digits at least.
func yearText(year int64) string {
	if year >= 1000 {
		return strconv.FormatInt(year, 10)
	}
	return fmt.Sprintf("%04d", year)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
