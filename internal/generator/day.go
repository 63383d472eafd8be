package generator

import "time"

// day counts days since 1970-01-01.
type day int32

const noDay day = -1 << 31

func date(year, month, dayOfMonth int) day {
	return day(time.Date(year, time.Month(month), dayOfMonth, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

func appendDay(b []byte, d day) []byte {
	return time.Unix(int64(d)*86400, 0).UTC().AppendFormat(b, time.DateOnly)
}

func (d day) String() string { return string(appendDay(nil, d)) }

func month(year, m int) (first, last day) {
	return date(year, m, 1), date(year, m+1, 1) - 1
}
