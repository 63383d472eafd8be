package generator

import "time"

// day counts days since 1970-01-01.
type day int32

// noDay is an unknown date.
const noDay day = -1 << 31

func date(year, month, dayOfMonth int) day {
	return day(time.Date(year, time.Month(month), dayOfMonth, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

// appendDay appends YYYY-MM-DD. It counts years from March, so that the leap day is the last of a
// year.
func appendDay(b []byte, d day) []byte {
	z := int(d) + 719468
	era := z / 146097
	dayOfEra := z - era*146097
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36524 - dayOfEra/146096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	m := (5*dayOfYear + 2) / 153
	dayOfMonth := dayOfYear - (153*m+2)/5 + 1
	year, month := yearOfEra+era*400, m+3
	if month > 12 {
		year, month = year+1, month-12
	}
	return append(b, byte('0'+year/1000), byte('0'+year/100%10), byte('0'+year/10%10), byte('0'+year%10), '-',
		byte('0'+month/10), byte('0'+month%10), '-', byte('0'+dayOfMonth/10), byte('0'+dayOfMonth%10))
}

// month returns the first and last day of a month.
func month(year, m int) (first, last day) {
	return date(year, m, 1), date(year, m+1, 1) - 1
}
