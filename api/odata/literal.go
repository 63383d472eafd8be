package odata

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"
)

// kind is what a value or a literal is.
type kind uint8

// The kinds. A day and an instant are microseconds since 1970.
const (
	null kind = iota
	text
	integer
	float
	boolean
	day
	instant
)

// kindNames are the kinds in words.
var kindNames = [...]string{
	"null", "a text", "a whole number", "a number", "true or false", "a date", "a time",
}

// value is a value of a property, or a literal.
type value struct {
	kind  kind
	text  string
	int   int64 // also microseconds, and 1 for true
	float float64
}

// compare orders two values that are not null and can be compared.
func (v *value) compare(other *value) int {
	switch {
	case v.kind == text:
		return strings.Compare(v.text, other.text)
	case v.kind == float || other.kind == float:
		return cmp.Compare(v.asFloat(), other.asFloat())
	}
	return cmp.Compare(v.int, other.int)
}

func (v *value) asFloat() float64 {
	if v.kind == float {
		return v.float
	}
	return float64(v.int)
}

const microsPerDay = int64(24 * time.Hour / time.Microsecond)

// dayOf is the start of the day of a time.
func dayOf(micros int64) int64 {
	from := micros % microsPerDay
	if from < 0 {
		from += microsPerDay
	}
	return micros - from
}

// timeForms are the forms of dates and times, without what follows the seconds.
var timeForms = []string{"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02T15:04Z07:00"}

// literalOf reads a literal that is neither a text nor a word. It is not ok if it is none.
func literalOf(token string) (v value, ok bool) {
	if n, err := strconv.ParseInt(token, 10, 64); err == nil {
		return value{kind: integer, int: n}, true
	}
	if at, err := time.Parse(time.DateOnly, token); err == nil {
		return value{kind: day, int: at.UnixMicro()}, true
	}
	if len(token) > len(time.DateOnly) && strings.ContainsAny(token[:len(time.DateOnly)+1], "Tt") {
		for _, form := range timeForms {
			if at, err := time.Parse(form, strings.ToUpper(token)); err == nil {
				return value{kind: instant, int: at.UnixMicro()}, at.Nanosecond()%1000 == 0
			}
		}
		return v, false
	}
	if strings.ContainsAny(token, "xXpP_iInN") { // forms that only Go has, infinities, suffixes
		return v, false
	}
	f, err := strconv.ParseFloat(token, 64)
	return value{kind: float, float: f}, err == nil && !math.IsInf(f, 0)
}
