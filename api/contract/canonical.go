package contract

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// All list requests with the same meaning have the same canonical query: the parameters that have
// an effect, sorted by name, without defaults and the identifier, with normalized values. Requests
// with the same canonical query have the same answer, so validators and links are made from it.
// Parsing a canonical query yields the same canonical query again (FuzzCanonical).

// canonicalQuery is a canonical query without limit and offset, which differ from link to link.
// Each pair is followed by '&'. limitAt and offsetAt are where those two belong.
type canonicalQuery struct {
	pairs             []byte
	limitAt, offsetAt int
	ranks             []int // of the parameters of the request
}

// canonicalize makes the canonical query of a question with some parameters.
func (r *Request) canonicalize(positions []int) {
	p, c := r.Question.plan, &r.canonical
	c.pairs, c.limitAt, c.offsetAt = c.pairs[:0], 0, 0
	c.ranks = c.ranks[:0]
	for _, position := range positions {
		c.ranks = insert(c.ranks, p.rank[position])
	}
	for _, rank := range c.ranks {
		c.pairs = r.Question.appendParam(c.pairs, p.byName[rank])
		if rank < p.limitRank {
			c.limitAt = len(c.pairs)
		}
		if rank < p.offsetRank {
			c.offsetAt = len(c.pairs)
		}
	}
}

// AppendCanonical appends the canonical query.
func (r *Request) AppendCanonical(dst []byte) []byte {
	limit := r.Question.Limit
	if limit == r.Scanned.plan.usualLimit() {
		limit = -1
	}
	return r.canonical.appendTo(dst, r.Question.Offset, limit)
}

// AppendPage appends the canonical query of the page at another offset. It always has a limit: some
// clients ignore a reference that is only "?".
func (r *Request) AppendPage(dst []byte, offset uint64) []byte {
	return r.canonical.appendTo(dst, offset, r.Question.Limit)
}

// appendTo appends the query with an offset and a limit, without one if that is negative.
func (c *canonicalQuery) appendTo(dst []byte, offset uint64, limit int) []byte {
	from := len(dst)
	dst = append(dst, c.pairs[:c.limitAt]...)
	if limit >= 0 {
		dst = strconv.AppendInt(append(dst, "limit="...), int64(limit), 10)
		dst = append(dst, '&')
	}
	dst = append(dst, c.pairs[c.limitAt:c.offsetAt]...)
	if offset > 0 {
		dst = strconv.AppendUint(append(dst, "offset="...), offset, 10)
		dst = append(dst, '&')
	}
	dst = append(dst, c.pairs[c.offsetAt:]...)
	return dst[:max(from, len(dst)-1)]
}

// appendParam appends a parameter with its value and '&', or nothing if it has no effect. Limit and
// offset are appended by others.
func (q *Question) appendParam(dst []byte, position int) []byte {
	p, f := &q.plan.Params[position], q.filterAt(position)
	from := len(dst)
	named := append(append(dst, p.Name...), '=')
	switch {
	case p.Own != nil:
		dst = p.Own.write(q, named)
	case f != nil && p.List:
		return append(appendList(named, p, f.Values), '&')
	case f != nil:
		return append(appendFilter(named, p, f), '&') // also an empty text
	case q.Coarsest && p.IsLevel() && !p.List:
		dst = append(named, Coarsest...)
	case position == q.plan.format && q.formatName() != p.Default:
		dst = append(named, q.formatName()...)
	}
	if len(dst) <= len(named) {
		return dst[:from]
	}
	return append(dst, '&')
}

// appendFilter writes a filter's value so that reading it gives that value again.
func appendFilter(dst []byte, p *Param, f *Filter) []byte {
	v := &f.Value
	switch p.Type {
	case Integer:
		return appendInteger(dst, v.Int, v.Beyond)
	case Number:
		return appendNumber(dst, v.Float)
	case Exact:
		return append(dst, exactText(v.Exact)...)
	case Boolean:
		return strconv.AppendBool(dst, v.Int != 0)
	case DateTime, Day:
		if f.Text == "" {
			return appendInstant(dst, time.UnixMicro(v.Int).UTC())
		}
		return appendEscaped(dst, f.Text)
	}
	return appendEscaped(dst, v.Text)
}

// textOf is the value of a filter as its parameter takes it.
func (p *Param) textOf(f *Filter) string {
	switch {
	case f.Text != "":
		return f.Text
	case p.Type == String || p.Type == Choice:
		return f.Value.Text
	}
	return string(appendFilter(nil, p, f)) // nothing in it is escaped
}

// hasInstant reports whether a time can be written as an instant in a query: those at both ends
// cannot.
func hasInstant(micros int64) bool {
	year := time.UnixMicro(micros).UTC().Year()
	return year >= 1 && year < 9999
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
	text := strconv.FormatFloat(value, 'g', -1, 64)
	return append(dst, strings.Replace(text, "+", "", 1)...) // e+21: a '+' is a blank in a query
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
	if at.Nanosecond() != 0 {
		return at.AppendFormat(dst, "2006-01-02T15:04:05.000000")
	}
	dst = at.AppendFormat(dst, time.RFC3339) // which package time formats much faster than other forms
	return dst[:len(dst)-len("Z")]
}

// unreserved are the bytes that need no percent-encoding.
var unreserved = func() (set [256]bool) {
	for c := range set {
		b := byte(c)
		set[c] = isLetterOrDigit(b) || b == '-' || b == '_' || b == '.' || b == '~'
	}
	return set
}()

// appendEscaped percent-encodes what is not unreserved.
func appendEscaped(dst []byte, text string) []byte {
	const hex = "0123456789ABCDEF"
	plain := 0 // from here on nothing was appended
	for i := range len(text) {
		if c := text[i]; !unreserved[c] {
			dst = append(append(dst, text[plain:i]...), '%', hex[c>>4], hex[c&15])
			plain = i + 1
		}
	}
	return append(dst, text[plain:]...)
}
