package api

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/valyala/fasthttp"
)

// Bounds of what is told of unknown parameters.
const (
	maxUnknown     = 16 // names
	maxUnknownName = 40 // bytes of one
)

// What stands for names that are not told.
const (
	emptyName    = "(empty)"
	withheldName = "(withheld)"
)

// unknownNames lists parameters that the endpoint does not have, sorted, each once. A caller who put an identifier where a name belongs does not
// get it back, as it would travel on in caches: only what looks like a name is told, as it was sent.
func (r *request) unknownNames() []string {
	var names []string
	for _, encoded := range r.unknown {
		name := appendDecoded(nil, encoded)
		told := withheldName
		switch {
		case len(name) == 0:
			told = emptyName
		case isName(name) && !hidesText(name):
			told = string(name)
		}
		names = append(names, told)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > maxUnknown {
		names = append(names[:maxUnknown], "...")
	}
	return names
}

// isName tells what somebody may have meant as a parameter's name: a letter or '_', then letters, digits, '_', '.' and '-'. They are also safe in a
// header. The length bounds what hidesText has to look at.
func isName(text []byte) bool {
	if len(text) > maxUnknownName || text[0] != '_' && !isLetter(text[0]) {
		return false
	}
	for _, c := range text {
		if !isLetterOrDigit(c) && c != '_' && c != '.' && c != '-' {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isLetterOrDigit(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' }

// Text in base64 is taken for a piece of an identifier when it has leastHidden printable characters in a row, or when it has an '@' and is as long as the
// shortest identifier, in whatever script. So 0.2 % of 5,000 ordinary names of fields and functions are withheld; with 6 characters in a row it were 1 %.
const (
	leastHidden     = 7
	leastIdentifier = minApplication + len(":m@a.b")
)

// hidesText tells names of which a part is text in base64. The part may begin anywhere, be in the alphabet of URLs or in the usual one, and have
// characters between that decoders drop: so all of it is decoded from each of the first four digits, once with '-' and '_' and once without.
func hidesText(name []byte) bool {
	var digitsRoom, textRoom [maxUnknownName]byte
	for _, digit := range []func(byte) int{base64Digit, anyBase64Digit} {
		digits := digitsRoom[:0]
		for _, c := range name {
			if digit(c) >= 0 {
				digits = append(digits, c)
			}
		}
		for first := range min(4, len(digits)) {
			if text, _ := appendGroups(textRoom[:0], digits[first:], digit); isHidden(text) {
				return true
			}
		}
	}
	return false
}

// isHidden looks for text among bytes that may be anything.
func isHidden(decoded []byte) bool {
	printable, valid, at := 0, 0, false
	for len(decoded) > 0 {
		r, n := utf8.DecodeRune(decoded)
		decoded = decoded[n:]
		if r == utf8.RuneError && n == 1 {
			printable, valid, at = 0, 0, false
			continue
		}
		valid += n
		at = at || r == '@'
		if ' ' <= r && r <= '~' {
			printable++
		} else {
			printable = 0
		}
		if printable >= leastHidden || at && valid >= leastIdentifier {
			return true
		}
	}
	return false
}

// tellUnknown writes X-Unknown-Params. Unknown parameters change nothing, so whoever misspells a filter gets more rows than wanted; this is
// where it shows.
func (r *request) tellUnknown(h *fasthttp.ResponseHeader) {
	if len(r.unknown) == 0 {
		return
	}
	var list []byte
	for i, name := range r.unknownNames() {
		if i > 0 {
			list = append(list, ", "...)
		}
		list = append(list, name...)
	}
	h.SetCanonical(nameUnknown, list)
}

// strictHandling is the wish for unknown parameters to be faults.
const strictHandling = "handling=strict"

// wantsStrict says whether the client has that wish; of several about handling the first one counts. A shared cache may answer with a list that it has,
// and X-Unknown-Params on it. Varying by the field would give each cache two of everything.
func wantsStrict(request *fasthttp.RequestHeader) bool {
	for _, line := range request.PeekAll("Prefer") {
		for wish := range bytes.SplitSeq(line, []byte{','}) {
			wish, _, _ = bytes.Cut(wish, []byte{';'})
			name, value, _ := bytes.Cut(wish, []byte{'='})
			if bytes.EqualFold(bytes.TrimSpace(name), []byte("handling")) {
				return bytes.EqualFold(bytes.Trim(value, " \t\""), []byte("strict"))
			}
		}
	}
	return false
}

// unknownFaults are the issues of a strict request. Their input is null: the value of a misspelled parameter may be an identifier.
func (r *request) unknownFaults(wished bool) *Invalid {
	all := Invalid{Wished: wished}
	for _, name := range r.unknownNames() {
		all.Issues = append(all.Issues, Issue{Type: "extra_forbidden", Param: name, Text: "Extra inputs are not permitted", Miss: true})
	}
	return &all
}
