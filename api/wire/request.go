package wire

import (
	"bytes"
	"strings"

	"github.com/valyala/fasthttp"
)

// Conditions says which conditional fields a request may have, so that the others need not be
// looked for.
type Conditions uint8

// The conditions: If-Match or If-Unmodified-Since, If-None-Match or If-Modified-Since, and Range.
const (
	Precondition Conditions = 1 << iota
	Revalidation
	InRange
	AllConditions = Precondition | Revalidation | InRange
)

// Inspect reports whether a request that fasthttp accepts may mean something else to other servers:
// its body may end elsewhere, or its host may be another. Refuse it and close the connection, since
// it is unclear where the next request begins. It also returns which conditions the request may
// have: all if it was not read from a connection.
func Inspect(header *fasthttp.RequestHeader) (malformed bool, conditions Conditions) {
	fields := header.RawHeaders()
	if len(fields) == 0 {
		return !hasGoodHost(header), AllConditions
	}
	malformed, conditions = inspectFields(fields)
	return malformed || !hasGoodHost(header), conditions
}

var (
	transferEncoding = []byte(fasthttp.HeaderTransferEncoding + ":")
	chunked          = []byte("chunked")
)

// inspectFields reports whether the header fields, as sent, have a folded line or name a transfer
// coding other than chunked, and which conditions there are. A server must refuse a folded line or
// replace it (RFC 9112, 5.2): proxies that read it as a separate field see another body. The end
// of a body in another coding is undefined (6.3). fasthttp joins folded lines, and refuses all
// codings but identity, which RFC 7230 removed: it drops that field. Only the starts of lines are
// compared, so that ordinary requests cost little.
func inspectFields(fields []byte) (malformed bool, conditions Conditions) {
	for len(fields) > 0 {
		switch fields[0] {
		case ' ', '\t':
			return true, conditions
		case 't', 'T':
			if n := len(transferEncoding); len(fields) > n && bytes.EqualFold(fields[:n], transferEncoding) {
				value := bytes.TrimLeft(fields[n:], " \t")
				if len(value) < len(chunked) || !bytes.EqualFold(value[:len(chunked)], chunked) {
					return true, conditions
				}
				conditions = AllConditions
			}
		case 'i', 'I':
			conditions |= conditionsFrom(fields)
		case 'r', 'R':
			if len(fields) > 1 && fields[1]|0x20 == 'a' {
				conditions |= InRange
			}
		}
		end := bytes.IndexByte(fields, '\n')
		if end < 0 {
			break
		}
		fields = fields[end+1:]
	}
	return false, conditions
}

// conditionsFrom returns which condition a line that begins with 'i' may be, by its next letters.
func conditionsFrom(line []byte) Conditions {
	if len(line) < len("If-M") || line[1]|0x20 != 'f' || line[2] != '-' {
		return 0
	}
	switch line[3] | 0x20 {
	case 'm': // If-Match or If-Modified-Since
		return Precondition | Revalidation
	case 'n':
		return Revalidation
	case 'u':
		return Precondition
	}
	return 0
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
