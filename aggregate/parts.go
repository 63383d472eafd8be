package aggregate

import (
	"fmt"
	"strconv"
	"time"
)

// number is a number for the part of a time. It ascends with time.
func (p Part) number(micros int64) int64 {
	t := time.UnixMicro(micros).UTC()
	year, month := int64(t.Year()), int64(t.Month()-time.January)
	switch p {
	case Year:
		return year
	case Quarter:
		return year*4 + month/3
	case Month:
		return year*12 + month
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
