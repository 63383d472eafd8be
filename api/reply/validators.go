package reply

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/wire"
)

// serializer is the version of how records are rendered and parameters select rows. Increment it
// when either changes without a change of an endpoint's fields, so that caches drop old answers.
const serializer = 1

// EntityTag is a weak entity tag, W/"<22 characters>". It is weak because all codings of a body
// have the same tag. Uncompressed bodies of lists are the same bytes each time, so there it is
// strong.
type EntityTag [27]byte

// NewEntityTag makes a tag of a digest.
func NewEntityTag(sum [sha256.Size]byte) EntityTag {
	var t EntityTag
	copy(t[:], `W/"`)
	base64.RawURLEncoding.Encode(t[3:], sum[:16])
	t[25] = '"'
	return t
}

// Text is the tag as it is sent.
func (t *EntityTag) Text() []byte { return t[:26] }

// Strong is the tag of the uncompressed body.
func (t *EntityTag) Strong() []byte { return t[2:26] }

// TagSeed returns the common part of all tags of an endpoint: the version of the table, and what
// the answer depends on besides the query. It does not depend on the process, so all replicas send
// the same tags.
func TagSeed(e *contract.Endpoint, version string) [sha256.Size]byte {
	b := append([]byte("hdqs list "), strconv.Itoa(serializer)...)
	for _, part := range []string{version, e.Path} {
		b = append(append(b, '\n'), part...)
	}
	for _, f := range e.CSVFields() {
		b = append(append(b, '\n'), f.Name...)
	}
	if e.Names() != contract.ContractNames { // also where no name differs
		b = append(b, "\nHAPI names 2"...) // 2: no header line without records
	}
	return sha256.Sum256(b)
}

// BodyTag returns the tag of a body that does not depend on a query.
func BodyTag(body []byte) EntityTag { return NewEntityTag(sha256.Sum256(body)) }

// Validators are what the conditions of a request are compared with.
type Validators struct {
	Tag       []byte    // the weak one
	Strong    []byte    // nil if the answer has only a weak one
	Published time.Time // zero if unknown
}

// Check looks for those conditions that a request may have. The error is errPrecondition; same
// reports that the client has the answer.
func (v *Validators) Check(request *fasthttp.RequestHeader, may wire.Conditions) (same bool, err error) {
	if may&wire.Precondition != 0 && !preconditionHolds(request, v.Strong, v.Published) {
		return false, errPrecondition
	}
	return may&wire.Revalidation != 0 && notModified(request, v.Tag, v.Published), nil
}

// preconditionHolds reports whether If-Match and If-Unmodified-Since allow an answer with a tag,
// nil for a weak one. If If-Match is present, it alone decides. It compares strongly, so no weak
// tag matches, but '*' does. published is zero if unknown.
func preconditionHolds(request *fasthttp.RequestHeader, tag []byte, published time.Time) bool {
	if lines := request.PeekAll(fasthttp.HeaderIfMatch); len(lines) > 0 {
		return anyLine(lines, tag, hasStrongTag)
	}
	until, ok := dateOf(request, fasthttp.HeaderIfUnmodifiedSince)
	return !ok || published.IsZero() || !published.After(until)
}

// notModified reports whether the client has this answer. If If-None-Match is present, it alone
// decides. published is zero if unknown.
func notModified(request *fasthttp.RequestHeader, tag []byte, published time.Time) bool {
	if lines := request.PeekAll(fasthttp.HeaderIfNoneMatch); len(lines) > 0 {
		return anyLine(lines, tag, listsTag)
	}
	since, ok := dateOf(request, fasthttp.HeaderIfModifiedSince)
	return ok && !published.IsZero() && !published.After(since)
}

// dateForms are the forms of dates in headers: the current one, and two of old clients.
var dateForms = [...]string{"Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC}

// dateOf parses a header field with a date. ok is true only for exactly one date in one of the
// forms; anything else must be ignored.
func dateOf(request *fasthttp.RequestHeader, name string) (at time.Time, ok bool) {
	lines := request.PeekAll(name)
	if len(lines) != 1 {
		return at, false
	}
	text := string(lines[0])
	for _, form := range dateForms {
		// Formatting the result must give the same text: time.Parse also accepts fractions of
		// seconds, wrong days of the week and lower case.
		if at, err := time.Parse(form, text); err == nil && at.Format(form) == text {
			return at, true
		}
	}
	return at, false
}

// isAny recognises the '*' that matches any tag.
func isAny(list []byte) bool { return string(bytes.Trim(list, " \t")) == "*" }

// listsTag reports whether a list of entity tags is '*' or has one that weakly equals tag, which is
// weak. Reading ends at the first thing that is not a tag.
func listsTag(list, tag []byte) bool {
	if isAny(list) {
		return true
	}
	opaque := tag[2:]
	for len(list) > 0 {
		if list[0] == ',' || list[0] == ' ' || list[0] == '\t' {
			list = list[1:]
			continue
		}
		list = bytes.TrimPrefix(list, []byte("W/"))
		if len(list) == 0 || list[0] != '"' {
			return false
		}
		end := bytes.IndexByte(list[1:], '"')
		if end < 0 {
			return false
		}
		if bytes.Equal(list[:end+2], opaque) {
			return true
		}
		list = list[end+2:]
		if rest := bytes.TrimLeft(list, " \t"); len(rest) > 0 && rest[0] != ',' {
			return false
		}
	}
	return false
}

// anyLine reports whether one line of a header field has a tag.
func anyLine(lines [][]byte, tag []byte, has func(line, tag []byte) bool) bool {
	for _, line := range lines {
		if has(line, tag) {
			return true
		}
	}
	return false
}
