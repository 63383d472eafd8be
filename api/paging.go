package api

import (
	"math"
	"strconv"
)

// maxLinks is the longest Link field. Proxies read a whole header into one buffer, often of 4 KiB; who sends the longest texts that are
// allowed counts on with limit and offset.
const maxLinks = 2 << 10

// appendLinks appends the Link field of a page: next and last when rows follow, prev and first when rows stand before it. A page of no rows by
// its limit has no neighbours. Targets are relative to the request's path, and are the canonical query, in which no identifier is: a shared cache
// gives one caller's answer to another.
//
// Who follows next takes its absence for the end. So a query either has it on all pages that have one, or on none: it comes first, and what counts
// against maxLinks is its length with the longest offset.
func (sc *scratch) appendLinks(dst []byte, p *plan) []byte {
	r := &sc.request
	limit, offset, total := uint64(r.query.Limit), r.query.Offset, uint64(sc.page.Total)
	if limit == 0 || total == 0 || offset == 0 && total <= limit {
		return dst
	}
	start := len(dst)
	add := func(rel string, at uint64) {
		from := len(dst)
		if from > start {
			dst = append(dst, ", "...)
		}
		dst = r.appendCanonical(append(dst, "<?"...), p, r.query.Limit, at, true)
		if r.pin != "" {
			dst = append(append(dst, "&snapshot="...), r.pin...)
		}
		dst = append(append(append(dst, `>; rel="`...), rel...), '"')
		if len(dst)-start+longestOffset-decimalDigits(at) > maxLinks {
			dst = dst[:from]
		}
	}
	more := offset < total && total-offset > limit
	if more {
		add("next", offset+limit)
	}
	if offset > 0 {
		add("prev", before(offset, limit, total))
		add("first", 0)
	}
	if more {
		add("last", offset+(total-1-offset)/limit*limit)
	} else if offset >= total {
		add("last", (total-1)/limit*limit)
	}
	return dst
}

// longestOffset is how many digits an offset has at most.
const longestOffset = 20

func decimalDigits(n uint64) int {
	var digits [longestOffset]byte
	return len(strconv.AppendUint(digits[:0], n, 10))
}

// before is where the page before an offset begins: behind the end, the last page that has rows.
func before(offset, limit, total uint64) uint64 {
	if offset >= total && (offset == math.MaxUint64 || offset-total >= limit) {
		return (total - 1) / limit * limit
	}
	return offset - min(offset, limit)
}
