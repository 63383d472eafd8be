package judge

import (
	"strings"
	"unicode/utf8"
)

// request is one HTTP request. Path is everything after the host, as sent.
type request struct {
	Method  string
	Path    string
	Headers map[string]string
}

// query holds the decoded parameters in the order of the query string.
type query []pair

type pair struct{ name, value string }

// last returns the value that counts: the last one if a parameter is repeated.
func (q query) last(name string) (string, bool) {
	for i := len(q) - 1; i >= 0; i-- {
		if q[i].name == name {
			return q[i].value, true
		}
	}
	return "", false
}

func readQuery(text string) query {
	var q query
	for _, part := range strings.Split(text, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		q = append(q, pair{decodePart(name), decodePart(value)})
	}
	return q
}

// decodePart undoes the form encoding. A percent sign that starts no escape is kept, and bytes that
// are not UTF-8 become U+FFFD.
func decodePart(text string) string {
	var raw []byte
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '+':
			raw = append(raw, ' ')
		case text[i] == '%' && i+2 < len(text) && hexDigit(text[i+1]) >= 0 && hexDigit(text[i+2]) >= 0:
			raw = append(raw, byte(hexDigit(text[i+1])<<4|hexDigit(text[i+2])))
			i += 2
		default:
			raw = append(raw, text[i])
		}
	}
	var b strings.Builder
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		if r == utf8.RuneError && size == 1 {
			size = brokenLength(raw)
		}
		b.WriteRune(r)
		raw = raw[size:]
	}
	return b.String()
}

// brokenLength is the number of bytes that one U+FFFD replaces: as many as could start a character,
// as in the incumbent's decoder.
func brokenLength(raw []byte) int {
	for n := min(3, len(raw)); n > 1; n-- {
		start := raw[:n:n]
		for end := 0; end < 0x40; end++ { // some continuation would complete it
			for _, rest := range [][]byte{{0x80 | byte(end)}, {0x80 | byte(end), 0x80}} {
				whole := append(start, rest...)
				if r, size := utf8.DecodeRune(whole); r != utf8.RuneError && size == len(whole) {
					return n
				}
			}
		}
	}
	return 1
}

func hexDigit(c byte) int {
	if c >= 'A' && c <= 'F' {
		c += 'a' - 'A'
	}
	return strings.IndexByte("0123456789abcdef", c)
}

func (r request) header(name string) string {
	for k, v := range r.Headers {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}
