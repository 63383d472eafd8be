package api

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"hdqs/index"
)

// A canonical query is the one way to write down what a list request asks for: the parameters that count, by name, defaults and the
// identifier left out, values as they were understood. Requests with the same canonical query have the same answer, so it is what validators
// are made of and what links are written in. Reading it again gives itself (FuzzCanonical).

// appendCanonical appends the canonical query of a request that was read without a fault, for a page of its own or another. With page both
// limits of it are written, which links need: "?" alone is taken for no reference at all by some clients.
func (r *request) appendCanonical(dst []byte, p *plan, limit int, offset uint64, page bool) []byte {
	start := len(dst)
	for _, place := range p.byName {
		raw, param := &r.raw[place], &p.params[place]
		from := len(dst)
		if from > start {
			dst = append(dst, '&')
		}
		dst = append(append(dst, param.Name...), '=')
		bare := len(dst)
		switch {
		case param.Name == "limit":
			if page || limit != maxLimit {
				dst = strconv.AppendInt(dst, int64(limit), 10)
			}
		case param.Name == "offset":
			if offset > 0 {
				dst = strconv.AppendUint(dst, offset, 10)
			}
		case !raw.given || param.Name == identifierParam:
		case param.Name == "output_format":
			if r.csv {
				dst = append(dst, "csv"...)
			}
		case raw.filter > 0:
			dst = r.appendValue(dst, param, place, &r.query.Filters[raw.filter-1].Value)
		}
		if len(dst) == bare {
			dst = dst[:from]
		}
	}
	return dst
}

// appendValue writes a filter's value so that reading it gives that value again.
func (r *request) appendValue(dst []byte, p *Param, place int, v *index.Value) []byte {
	switch p.Type {
	case Integer:
		return appendInteger(dst, v.Int, v.Beyond)
	case Number:
		return appendNumber(dst, v.Float)
	case Exact:
		return append(dst, exactText(v.Exact)...)
	case Boolean:
		return strconv.AppendBool(dst, v.Int != 0)
	case Moment, Day:
		if at := time.UnixMicro(v.Int).UTC(); at.Year() >= 1 && at.Year() < 9999 {
			return appendInstant(dst, at)
		}
		// The instants at both ends cannot be written as such in a query.
		return appendEscaped(dst, r.text(place))
	}
	return appendEscaped(dst, v.Text)
}

func appendInteger(dst []byte, value int64, beyond int8) []byte {
	switch {
	case beyond > 0:
		return append(dst, "9223372036854775808"...)
	case beyond < 0:
		return append(dst, "-9223372036854775809"...)
	}
	return strconv.AppendInt(dst, value, 10)
}

func appendNumber(dst []byte, value float64) []byte {
	switch {
	case math.IsNaN(value):
		return append(dst, "nan"...)
	case math.IsInf(value, 0):
		if value < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "inf"...)
	case value == 0:
		return append(dst, '0') // either zero
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, value, 'g', -1, 64)
	for i := from; i < len(dst); i++ {
		if dst[i] == '+' { // e+21: a blank in a query
			return append(dst[:i], dst[i+1:]...)
		}
	}
	return dst
}

// longestDigits is the length from which on a decimal is written with an exponent.
const longestDigits = 32

// exactText writes a decimal fraction exactly.
func exactText(r *big.Rat) string {
	places, _ := r.FloatPrec()
	text := r.FloatString(places)
	if len(text) <= longestDigits {
		return text
	}
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	digits := strings.TrimLeft(strings.ReplaceAll(text, ".", ""), "0")
	short := strings.TrimRight(digits, "0")
	return sign + short + "e" + strconv.Itoa(len(digits)-len(short)-places)
}

func appendInstant(dst []byte, at time.Time) []byte {
	dst = at.AppendFormat(dst, "2006-01-02T15:04:05")
	if at.Nanosecond() != 0 {
		dst = at.AppendFormat(dst, ".000000")
	}
	return dst
}

// appendEscaped percent-encodes what is not unreserved.
func appendEscaped(dst []byte, text string) []byte {
	const hex = "0123456789ABCDEF"
	for i := range len(text) {
		c := text[i]
		if isLetterOrDigit(c) || c == '-' || c == '_' || c == '.' || c == '~' {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		}
	}
	return dst
}
