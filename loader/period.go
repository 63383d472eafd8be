package loader

import "time"

// Instants are microseconds since 1970-01-01T00:00:00 without a zone, as in snapshot.
const (
	second = int64(time.Second / time.Microsecond)
	day    = 86_400 * second
)

// parseDay reads the first ten characters of a date cell, YYYY-MM-DD, and gives that day's
// midnight. What may follow, a time of day and an offset as in 2022-12-31 23:59:59+00:00, is
// checked for its form and ignored: the source means whole days.
func parseDay(cell []byte) (midnight int64, ok bool) {
	if len(cell) > 10 {
		if _, ok := parseInstant(cell); !ok {
			return 0, false
		}
		cell = cell[:10]
	}
	return dayOf(cell)
}

// endOfDay is the last second of the day that begins at midnight: the end of every period.
func endOfDay(midnight int64) int64 { return midnight + day - second }

// parseInstant reads YYYY-MM-DD, or that with a time of day: a blank or T, HH:MM:SS, up to six
// digits of fraction, and an offset (Z, +00, +00:00) that is ignored.
func parseInstant(cell []byte) (int64, bool) {
	if len(cell) < 10 {
		return 0, false
	}
	t, ok := dayOf(cell[:10])
	if !ok || len(cell) == 10 {
		return t, ok
	}
	if len(cell) < 19 || cell[10] != ' ' && cell[10] != 'T' || cell[13] != ':' || cell[16] != ':' {
		return 0, false
	}
	h, ok1 := digits(cell[11:13])
	m, ok2 := digits(cell[14:16])
	s, ok3 := digits(cell[17:19])
	if !ok1 || !ok2 || !ok3 || h > 23 || m > 59 || s > 59 {
		return 0, false
	}
	t += (h*3600 + m*60 + s) * second
	rest := cell[19:]
	if len(rest) > 0 && rest[0] == '.' {
		n := 1
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		if n == 1 || n > 7 {
			return 0, false
		}
		fraction, _ := digits(rest[1:n])
		for i := n; i < 7; i++ {
			fraction *= 10
		}
		t, rest = t+fraction, rest[n:]
	}
	return t, isOffset(rest)
}

func isOffset(b []byte) bool {
	switch {
	case len(b) == 0, len(b) == 1 && b[0] == 'Z':
		return true
	case b[0] != '+' && b[0] != '-':
		return false
	case len(b) == 3:
		_, ok := digits(b[1:])
		return ok
	case len(b) == 6 && b[3] == ':':
		_, ok1 := digits(b[1:3])
		_, ok2 := digits(b[4:6])
		return ok1 && ok2
	}
	return false
}

// dayOf reads YYYY-MM-DD of the years 1 to 9999. The calendar is time.Date's: a period is parsed
// once for each distinct pair of cells, not for each row, so an own calendar saved nothing that a
// load could show (BenchmarkParseDay).
func dayOf(b []byte) (int64, bool) {
	if len(b) != 10 || b[4] != '-' || b[7] != '-' {
		return 0, false
	}
	y, ok1 := digits(b[:4])
	m, ok2 := digits(b[5:7])
	d, ok3 := digits(b[8:])
	if !ok1 || !ok2 || !ok3 || y < 1 {
		return 0, false
	}
	t := time.Date(int(y), time.Month(m), int(d), 0, 0, 0, 0, time.UTC)
	// Date turns a day that does not exist into one of the next month.
	return t.UnixMicro(), t.Month() == time.Month(m) && t.Day() == int(d)
}

func digits(b []byte) (int64, bool) {
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}
