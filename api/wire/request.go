package wire

import (
	"bytes"
	"strings"

	"github.com/valyala/fasthttp"
)

// IsMalformed reports whether a request that fasthttp accepts may mean something else to other
// servers: its body may end elsewhere, or its host may be another. Refuse it and close the
// connection, since it is unclear where the next request begins.
func IsMalformed(header *fasthttp.RequestHeader) bool {
	return isUncoded(header.RawHeaders()) || !hasGoodHost(header)
}

var (
	transferEncoding = []byte(fasthttp.HeaderTransferEncoding + ":")
	chunked          = []byte("chunked")
)

// isUncoded reports whether the header fields, as sent, name a transfer coding other than chunked.
// The end of such a body is undefined (RFC 9112, 6.3). fasthttp refuses all of these codings but
// identity, which RFC 7230 removed: it drops that field. Only the starts of lines are compared, so
// that ordinary requests cost little; the continuation of a folded field is not a start.
func isUncoded(fields []byte) bool {
	for len(fields) > len(transferEncoding) {
		if fields[0]|0x20 == 't' && bytes.EqualFold(fields[:len(transferEncoding)], transferEncoding) {
			value := bytes.TrimLeft(fields[len(transferEncoding):], " \t\r\n") // the value may be on the next line
			return len(value) < len(chunked) || !bytes.EqualFold(value[:len(chunked)], chunked)
		}
		end := bytes.IndexByte(fields, '\n')
		if end < 0 {
			break
		}
		fields = fields[end+1:]
	}
	return false
}

// hasGoodHost reports whether both the Host field and the target, if it is in absolute form, have a
// valid host. fasthttp checks that the field is present where required. It strips user information
// from both, so other servers may see another host.
func hasGoodHost(h *fasthttp.RequestHeader) bool {
	if host := h.Host(); len(host) > 0 && !isHost(host) {
		return false
	}
	target := h.RequestURI()
	if target[0] == '/' {
		return true
	}
	_, rest, absolute := bytes.Cut(target, []byte("://"))
	if end := bytes.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return !absolute || isHost(rest)
}

// isHost accepts a host with or without a port (RFC 9112, 3.2). An empty host is invalid, since no
// http URI has one (RFC 9110, 4.2.1).
func isHost(text []byte) bool {
	end := bytes.IndexByte(text, ':')
	if bytes.HasPrefix(text, []byte("[")) {
		end = bytes.IndexByte(text, ']')
		return end > 1 && isHostName(text[1:end], ":") && isPort(text[end+1:])
	}
	if end < 0 {
		end = len(text)
	}
	return end > 0 && isHostName(text[:end], "") && isPort(text[end:])
}

func isPort(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	for _, c := range text[1:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return text[0] == ':'
}

// isHostName accepts what RFC 3986 calls a reg-name, and the characters of more.
func isHostName(text []byte, more string) bool {
	for i, c := range text {
		switch {
		case isLetterOrDigit(c):
		case c == '%':
			if i+2 >= len(text) || !isHexDigit(text[i+1]) || !isHexDigit(text[i+2]) {
				return false
			}
		case strings.IndexByte("-._~!$&'()*+,;=", c) < 0 && strings.IndexByte(more, c) < 0:
			return false
		}
	}
	return true
}

func isLetterOrDigit(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' }

func isHexDigit(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }
