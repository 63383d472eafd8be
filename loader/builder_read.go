package loader

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"hdqs/snapshot"
)

// reason is why a value or a row is faulty; "" means that it is not. The texts are keys of the load
// report.
type reason string

// The reasons of values.
const (
	badNumber   reason = "bad_number"
	badFlag     reason = "bad_flag"
	badDate     reason = "bad_date"
	unknownEnum reason = "unknown_enum"
	missing     reason = "missing_value"
	tooLong     reason = "text_too_long"
	outOfBounds reason = "out_of_bounds"
	endFirst    reason = "end_before_start"
)

// unreadable reports whether there is no value to keep. After any other reason the value has been
// set, and the caller decides.
func (r reason) unreadable() bool {
	return r == badNumber || r == badFlag || r == badDate || r == unknownEnum
}

// read parses a cell by the column's declaration and sets the value: an empty cell is null where
// null is allowed and the empty text elsewhere. A reason that is not unreadable leaves a value set
// (missing: null).
func (v *vector) read(cell []byte) reason {
	if len(cell) == 0 && (v.kind != snapshot.Text || v.nullable && !v.blank) {
		v.setNull()
		if v.nullable {
			return ""
		}
		return missing
	}
	switch v.kind {
	case snapshot.Text:
		v.setText(cell)
		if v.maxLen > 0 && len(cell) > v.maxLen && utf8.RuneCount(cell) > v.maxLen {
			return tooLong
		}
	case snapshot.Enum:
		if !v.setText(cell) {
			return unknownEnum
		}
	case snapshot.Int:
		i, ok := parseInt(cell)
		if !ok {
			return badNumber
		}
		v.setInt(i)
		if !v.limits.hold(float64(i)) {
			return outOfBounds
		}
	case snapshot.Decimal:
		return v.readDecimal(cell)
	case snapshot.Bool:
		b, ok := parseFlag(cell)
		if !ok {
			return badFlag
		}
		v.setBool(b)
	case snapshot.Time:
		t, ok := parseInstant(cell)
		if !ok {
			return badDate
		}
		v.setInt(t)
	}
	return ""
}

func (v *vector) readDecimal(cell []byte) reason {
	if d, ok := snapshot.ParseDec(string(cell)); ok {
		v.setDecimal(d)
		if v.limits != nil && !v.limits.hold(d.Float()) {
			return outOfBounds
		}
		return ""
	}
	digits, ok := snapshot.PlainDecimal(string(cell))
	if !ok {
		return badNumber
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return badNumber // beyond a float64: no record could print it
	}
	v.setExact(digits)
	if !v.limits.hold(f) {
		return outOfBounds
	}
	return ""
}

// hold reports whether f is within the limits; nil limits hold for every number.
func (l *limits) hold(f float64) bool { return l == nil || l.from <= f && f <= l.to }

// parseInt parses an integer of at most 18 digits; older files write it with a fraction of zeros,
// as in 12.0.
func parseInt(cell []byte) (int64, bool) {
	digits := cell
	negative := false
	if len(digits) > 0 && (digits[0] == '-' || digits[0] == '+') {
		negative, digits = digits[0] == '-', digits[1:]
	}
	if dot := bytes.IndexByte(digits, '.'); dot >= 0 {
		for _, c := range digits[dot+1:] {
			if c != '0' {
				return 0, false
			}
		}
		digits = digits[:dot]
	}
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	var n int64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}

// parseFlag parses the three forms of booleans in files: Y/N, True/False, t/f, in any case.
func parseFlag(cell []byte) (value, ok bool) {
	switch strings.ToLower(string(cell)) {
	case "y", "t", "true":
		return true, true
	case "n", "f", "false":
		return false, true
	}
	return false, false
}
