package aggregate

import (
	"fmt"
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
		return Value{Kind: Text, Text: fmt.Sprintf("%04d-Q%d", n/4, n%4+1)}
	case Month:
		return Value{Kind: Text, Text: fmt.Sprintf("%04d-%02d", n/12, n%12+1)}
	}
	return Value{Kind: Time, Int: n}
}
