package reply

import (
	"math"
	"strconv"

	"hdqs/api/contract"
)

// MaxLinks is the longest Link field. Proxies read a whole header into one buffer, often of 4 KiB.
// A caller whose query is longer computes offsets itself.
const MaxLinks = 2 << 10

// AppendLinks appends the Link field of a page: next and last when rows follow, prev and first when
// rows come before it. A page with limit 0 has no neighbours. Targets are relative to the request's
// path. They are canonical queries, without the identifier, since a shared cache may send one
// caller's answer to another.
//
// A client that follows next takes its absence for the end. So a query has next either on every
// page that has a following one, or on no page: next is written first, and MaxLinks is compared
// with its length at the longest offset.
func AppendLinks(dst []byte, r *contract.Request, rows int) []byte {
	limit, offset, total := uint64(r.Question.Limit), r.Question.Offset, uint64(rows)
	if limit == 0 || r.Question.Limit == contract.NoLimit || total == 0 || offset == 0 && total <= limit {
		return dst
	}
	start := len(dst)
	add := func(rel string, at uint64) {
		from := len(dst)
		if from > start {
			dst = append(dst, ", "...)
		}
		dst = r.AppendPage(append(dst, "<?"...), at)
		if r.Scanned.Snapshot != "" {
			dst = append(append(dst, "&"+contract.SnapshotParam+"="...), r.Scanned.Snapshot...)
		}
		dst = append(append(append(dst, `>; rel="`...), rel...), '"')
		if len(dst)-start+maxOffsetDigits-decimalDigits(at) > MaxLinks {
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

// maxOffsetDigits is the number of digits of the largest offset.
const maxOffsetDigits = 20

func decimalDigits(n uint64) int {
	var digits [maxOffsetDigits]byte
	return len(strconv.AppendUint(digits[:0], n, 10))
}

// before returns the offset of the preceding page. For an offset beyond the end, that is the last
// page with rows.
func before(offset, limit, total uint64) uint64 {
	if offset >= total && (offset == math.MaxUint64 || offset-total >= limit) {
		return (total - 1) / limit * limit
	}
	return offset - min(offset, limit)
}
