package contract

import (
	"strconv"
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
		dst = appendEscaped(named, p.Own.write(q))
	case f != nil && p.List:
		return append(appendList(named, p, f.Values), '&')
	case f != nil:
		return append(appendFilter(named, p, f), '&') // also an empty text
	case q.Coarsest && p.IsLevel() && !p.List:
		dst = append(named, Coarsest...)
	case position == q.plan.format && q.Format != p.Default:
		dst = append(named, q.Format...)
	}
	if len(dst) <= len(named) {
		return named[:from] // not dst, so that the memory is kept for the next parameter
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
