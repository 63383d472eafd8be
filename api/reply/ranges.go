package reply

import (
	"bytes"
	"errors"
	"slices"
	"strconv"

	"github.com/valyala/fasthttp"
)

// byteRange is a part of a body: from first up to but not including end.
type byteRange struct{ First, End int64 }

type rangeResult int

const (
	wholeBody    rangeResult = iota // no Range, or one that must be ignored
	PartOfBody                      // one part
	NoSuchPart                      // a part that the body does not have
	SeveralParts                    // more than one part
)

// rangeOf reads the Range field of a request for a body of some length (RFC 9110, section 14). What
// has a mistake is ignored, as is any other unit than bytes.
func rangeOf(request *fasthttp.RequestHeader, length int64) (byteRange, rangeResult) {
	lines := request.PeekAll(fasthttp.HeaderRange)
	if len(lines) != 1 {
		if len(lines) == 0 {
			return byteRange{}, wholeBody
		}
		return byteRange{}, SeveralParts
	}
	unit, set, ok := bytes.Cut(lines[0], []byte{'='})
	if !ok || !bytes.EqualFold(bytes.Trim(unit, " \t"), []byte("bytes")) {
		return byteRange{}, wholeBody
	}
	if bytes.IndexByte(set, ',') >= 0 {
		return byteRange{}, SeveralParts
	}
	from, to, ok := bytes.Cut(bytes.Trim(set, " \t"), []byte{'-'})
	first, hasFirst, okFirst := position(from)
	last, hasLast, okLast := position(to)
	switch {
	case !ok || !okFirst || !okLast || !hasFirst && !hasLast || hasFirst && hasLast && last < first:
		return byteRange{}, wholeBody
	case !hasFirst && last == 0, hasFirst && first >= length, length == 0:
		return byteRange{}, NoSuchPart
	case !hasFirst:
		return byteRange{max(0, length-last), length}, PartOfBody
	case !hasLast:
		return byteRange{first, length}, PartOfBody
	}
	return byteRange{first, min(last, length-1) + 1}, PartOfBody
}

// position reads a position in a body; given is false for an empty text. Those that are too large
// for a number are far behind the end of any body.
func position(text []byte) (at int64, given, ok bool) {
	if len(text) == 0 {
		return 0, false, true
	}
	n, err := strconv.ParseUint(string(text), 10, 63) // of a larger number the greatest
	return int64(n), true, err == nil || errors.Is(err, strconv.ErrRange)
}

// hasStrongTag reports whether a list of entity tags is '*' or has a strong tag, given with its
// quotes. A weak one never matches (RFC 9110, section 8.8.3.2).
func hasStrongTag(list, tag []byte) bool {
	return isAny(list) || slices.ContainsFunc(bytes.Split(list, []byte{','}), func(one []byte) bool {
		return bytes.Equal(bytes.Trim(one, " \t"), tag) // no tag of ours has a comma
	})
}

// PartFor returns what to send of a body with a strong tag, which a request with If-Range wants in
// parts only if it has not changed.
func PartFor(ctx *fasthttp.RequestCtx, tag []byte, length int64) (byteRange, rangeResult) {
	whole := byteRange{0, length}
	if !ctx.IsGet() { // Range has no meaning for others
		return whole, wholeBody
	}
	request := &ctx.Request.Header
	for _, line := range request.PeekAll(fasthttp.HeaderIfRange) {
		if !bytes.Equal(bytes.Trim(line, " \t"), tag) {
			return whole, wholeBody
		}
	}
	part, result := rangeOf(request, length)
	if result != PartOfBody {
		part = whole
	}
	return part, result
}

// SetPart sets which part of a body an answer has, or that the body has no such part. What has the
// whole body says nothing.
func SetPart(ctx *fasthttp.RequestCtx, part byteRange, result rangeResult, length int64) {
	positions := "*"
	switch result {
	case wholeBody:
		return
	case PartOfBody:
		ctx.SetStatusCode(fasthttp.StatusPartialContent)
		positions = strconv.FormatInt(part.First, 10) + "-" + strconv.FormatInt(part.End-1, 10)
	}
	ctx.Response.Header.Set("Content-Range", "bytes "+positions+"/"+strconv.FormatInt(length, 10))
}
