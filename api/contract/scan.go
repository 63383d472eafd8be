package contract

import (
	"bytes"
	"encoding/hex"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// maxUnknownKept bounds the memory of unknown names.
const maxUnknownKept = 64

// Scanned is a query string, split by parameter. It refers to the bytes of the query string.
type Scanned struct {
	Snapshot string // the id of the snapshot that must answer; mostly empty
	IsLong   bool   // of a page, whose lists may have more than MaxValues; set after Scan

	plan    *Plan
	raw     []rawValue // by position of the parameter
	given   []int      // positions of those that the request has, in ascending order
	lists   []sentList // all values of parameters that take several
	hinted  []int      // positions of parameters with a value that may have been meant as several
	unknown []sentPair
	refused []Issue // of lists that no parameter has, and filters that earlier versions had
	name    []byte  // scratch memory of names that must be decoded
	value   []byte  // scratch memory of values that must be decoded
}

// rawValue is a parameter of a request: the last value under its name in the plan's set, and the
// last one under its name in the other.
type rawValue struct {
	sent  [otherSet + 1][]byte // encoded
	given [otherSet + 1]bool
}

// encoded is the value that counts.
func (v *rawValue) encoded() []byte {
	if v.given[ownSet] {
		return v.sent[ownSet]
	}
	return v.sent[otherSet]
}

// clashes reports whether the parameter has different values under its two names.
func (v *rawValue) clashes() bool {
	return v.given[ownSet] && v.given[otherSet] &&
		!bytes.Equal(decodedView(v.sent[ownSet]), decodedView(v.sent[otherSet]))
}

// sentList is one occurrence of a parameter for several values, in the plan's names or the other.
type sentList struct {
	paramName
	encoded []byte
}

// sentPair is a parameter that the plan does not have, encoded.
type sentPair struct{ name, value []byte }

// Scan splits a query string. It records the last value of each known parameter under either of its
// names, and the parameters that the endpoint does not have. The result is the kind of the request:
// the plan's, or Export for a list in a format that only exports have. As then makes it one.
func (s *Scanned) Scan(p *Plan, query []byte) Kind {
	for _, position := range s.given {
		s.raw[position] = rawValue{}
	}
	s.given = s.given[:0]
	s.unknown, s.refused, s.Snapshot, s.IsLong = s.unknown[:0], s.refused[:0], "", false
	s.lists, s.hinted = s.lists[:0], s.hinted[:0]
	s.setPlan(p)
	eachPair(query, s.note)
	if format := s.raw[p.format].encoded(); len(format) > 0 && p.Kind == Rows {
		switch string(decodedView(format)) {
		case FormatArrow, FormatParquet: // which only exports have
			return Export
		}
	}
	return p.Kind
}

// As continues with a plan for another kind of requests for the same endpoint: it looks for the
// parameters that only this kind has.
func (s *Scanned) As(p *Plan) {
	s.setPlan(p)
	unknown := s.unknown
	s.unknown = s.unknown[:0]
	for _, pair := range unknown {
		s.note(pair.name, pair.value)
	}
}

func (s *Scanned) setPlan(p *Plan) {
	s.plan = p
	for cap(s.raw) < len(p.Params) {
		s.raw = append(s.raw[:cap(s.raw)], rawValue{})
	}
	s.raw = s.raw[:len(p.Params)]
}

// note records one parameter, still encoded.
func (s *Scanned) note(sent, encoded []byte) {
	name := sent
	at, known := s.plan.known[string(name)]
	if !known && !isPlain(name) {
		s.name = appendDecoded(s.name[:0], name)
		name = s.name
		at, known = s.plan.known[string(name)]
	}
	switch {
	case known:
		raw := &s.raw[at.position]
		switch p := &s.plan.Params[at.position]; {
		case p.List:
			s.lists = append(s.lists, sentList{at, encoded})
		case p.Several && raw.given[at.set] && !bytes.Equal(raw.sent[at.set], encoded):
			s.hinted = append(s.hinted, at.position) // only the last value counts
		}
		if !s.isGiven(at.position) {
			s.given = insert(s.given, at.position)
		}
		raw.given[at.set], raw.sent[at.set] = true, encoded
	case string(name) == SnapshotParam:
		s.Snapshot = string(appendDecoded(nil, encoded))
	default:
		text := string(name)
		s.refuseUnknown(text, text, len(encoded) > 0)
		if s.plan.Kind != Rows { // the contract ignores them in lists
			for _, part := range nameParts(text) {
				s.refuseUnknown(text, part, len(encoded) > 0)
			}
		}
		if len(s.unknown) < maxUnknownKept {
			s.unknown = append(s.unknown, sentPair{sent, encoded})
		}
	}
}

// insert adds a number to a short list in ascending order.
func insert(to []int, n int) []int {
	to = append(to, n)
	for i := len(to) - 1; i > 0 && to[i-1] > n; i-- {
		to[i-1], to[i] = n, to[i-1]
	}
	return to
}

// text is the decoded value of a parameter, in memory of its own: filters outlive the request in
// caches.
func (s *Scanned) text(position int) string {
	encoded := s.raw[position].encoded()
	if isPlain(encoded) {
		return string(encoded)
	}
	s.value = appendDecoded(s.value[:0], encoded)
	return string(s.value)
}

func (s *Scanned) isGiven(position int) bool {
	return s.raw[position].given[ownSet] || s.raw[position].given[otherSet]
}

// Plan is the plan that the request was read with.
func (s *Scanned) Plan() *Plan { return s.plan }

// Kind is what the request asks for.
func (s *Scanned) Kind() Kind { return s.plan.Kind }

// Names are the names that the answer uses.
func (s *Scanned) Names() NameSet { return s.plan.Endpoint.names }

// Identifier is the application identifier in the query, empty without one.
func (s *Scanned) Identifier() []byte { return decodedView(s.raw[s.plan.identifier].encoded()) }

// eachPair calls do for every name and value of a query string, both still encoded. Only '&'
// separates. A name without '=' has an empty value. Empty pairs are skipped.
func eachPair(query []byte, do func(name, value []byte)) {
	for len(query) > 0 {
		pair := query
		if i := bytes.IndexByte(query, '&'); i >= 0 {
			pair, query = query[:i], query[i+1:]
		} else {
			query = nil
		}
		if i := bytes.IndexByte(pair, '='); i >= 0 {
			do(pair[:i], pair[i+1:])
		} else if len(pair) > 0 {
			do(pair, nil)
		}
	}
}

// isPlain reports whether encoded bytes are the same decoded.
func isPlain(encoded []byte) bool {
	for _, c := range encoded {
		if c == '%' || c == '+' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendDecoded appends the text that encoded bytes stand for: '+' is a blank, %xx a byte, a '%'
// before anything else itself. Bytes that are not UTF-8 become U+FFFD.
func appendDecoded(dst, encoded []byte) []byte {
	if isPlain(encoded) {
		return append(dst, encoded...)
	}
	from := len(dst)
	dst = AppendUnescaped(dst, encoded, true)
	if !utf8.Valid(dst[from:]) {
		// As in Python, one U+FFFD replaces each longest part of an ill-formed sequence. In Go it
		// would replace each byte, so the length of a value, which has a limit, would differ.
		repaired, _ := unicode.UTF8.NewDecoder().Bytes(dst[from:])
		dst = append(dst[:from], repaired...)
	}
	return dst
}

// decodedView is the text that encoded bytes stand for: the bytes themselves where they are the
// same, else new memory.
func decodedView(encoded []byte) []byte {
	if isPlain(encoded) {
		return encoded
	}
	return appendDecoded(nil, encoded)
}

// AppendUnescaped replaces %xx, and with blanks also '+' by a space, as in queries but not in
// paths.
func AppendUnescaped(dst, encoded []byte, blanks bool) []byte {
	blanks = blanks && bytes.IndexByte(encoded, '+') >= 0
	for len(encoded) > 0 {
		end := bytes.IndexByte(encoded, '%')
		if end < 0 {
			end = len(encoded)
		}
		from := len(dst)
		dst = append(dst, encoded[:end]...)
		for i := from; blanks && i < len(dst); i++ {
			if dst[i] == '+' {
				dst[i] = ' '
			}
		}
		if encoded = encoded[end:]; len(encoded) == 0 {
			break
		}
		c, length := [1]byte{'%'}, 1
		if len(encoded) > 2 {
			if decoded, _ := hex.Decode(c[:], encoded[1:3]); decoded == 1 {
				length = 3
			}
		}
		dst, encoded = append(dst, c[0]), encoded[length:]
	}
	return dst
}

func isLetterOrDigit(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' }

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

// unreserved are the bytes that need no percent-encoding.
var unreserved = func() (set [256]bool) {
	for c := range set {
		b := byte(c)
		set[c] = isLetterOrDigit(b) || b == '-' || b == '_' || b == '.' || b == '~'
	}
	return set
}()
