package contract

import (
	"bytes"
	"unicode/utf8"
)

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
		if len(pair) == 0 {
			continue
		}
		if i := bytes.IndexByte(pair, '='); i >= 0 {
			do(pair[:i], pair[i+1:])
		} else {
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
		dst = append(dst[:from], repaired(dst[from:])...)
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
		switch encoded = encoded[end:]; {
		case len(encoded) > 2 && hexDigit(encoded[1]) >= 0 && hexDigit(encoded[2]) >= 0:
			dst, encoded = append(dst, byte(hexDigit(encoded[1])<<4|hexDigit(encoded[2]))), encoded[3:]
		case len(encoded) > 0:
			dst, encoded = append(dst, '%'), encoded[1:]
		}
	}
	return dst
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// repaired replaces every maximal piece of an ill-formed sequence by one U+FFFD, as the Unicode
// standard recommends and Python does. (Go replaces every byte, so the length of a value, which has
// a limit, would differ.)
func repaired(text []byte) []byte {
	out := make([]byte, 0, len(text)+8)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 {
			n = brokenLength(text)
			out = append(out, "\uFFFD"...)
		} else {
			out = append(out, text[:n]...)
		}
		text = text[n:]
	}
	return out
}

// brokenLength is the length of the longest prefix of text that begins some UTF-8 sequence, at
// least 1. text does not begin with a whole sequence.
func brokenLength(text []byte) int {
	want, low, high := 0, byte(0x80), byte(0xBF)
	switch c := text[0]; {
	case 0xC2 <= c && c <= 0xDF:
		want = 2
	case c == 0xE0:
		want, low = 3, 0xA0
	case c == 0xED:
		want, high = 3, 0x9F
	case 0xE1 <= c && c <= 0xEF:
		want = 3
	case c == 0xF0:
		want, low = 4, 0x90
	case c == 0xF4:
		want, high = 4, 0x8F
	case 0xF1 <= c && c <= 0xF3:
		want = 4
	}
	n := 1
	for ; n < want && n < len(text) && low <= text[n] && text[n] <= high; n++ {
		low, high = 0x80, 0xBF
	}
	return n
}

// runeCount counts the code points of a decoded value.
func runeCount(value string) int { return utf8.RuneCountInString(value) }
