package api

import (
	"bytes"
	"strings"

	"github.com/valyala/fasthttp"
)

// refuseUnsound answers a request that the HTTP library takes for a good one, while others may read something else in it. The connection ends with it, since
// where the next request would begin is in doubt.
func (s *Server) refuseUnsound(ctx *fasthttp.RequestCtx) bool {
	header := &ctx.Request.Header
	if !isUncoded(header.RawHeaders()) && asksHost(header) {
		return false
	}
	s.answerFault(ctx, fasthttp.StatusBadRequest, bodyBadRequest)
	ctx.SetConnectionClose()
	cutShort(ctx.Conn())
	return true
}

// Beginnings of a field and of its value.
var (
	transferEncoding = []byte(fasthttp.HeaderTransferEncoding + ":")
	chunked          = []byte("chunked")
)

// isUncoded says whether the fields of a request name a transfer coding that is not chunked, as they were sent. Where such a body ends nobody can say (RFC
// 9112, 6.3); the library refuses all of them but identity, which RFC 7230 took out: that field it drops. It looks at the lines alone, and lets those through
// that continue one, so that a usual request pays little.
func isUncoded(fields []byte) bool {
	for len(fields) > len(transferEncoding) {
		if fields[0]|0x20 == 't' && bytes.EqualFold(fields[:len(transferEncoding)], transferEncoding) {
			value := bytes.TrimLeft(fields[len(transferEncoding):], " \t\r\n") // the value may stand on the next line
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

// asksHost says whether both the Host field and the target, where it is in absolute form, name what can be a host. That the field is there where it must be
// is the library's to check; of either it takes away a user, by which others may see another host than it does.
func asksHost(h *fasthttp.RequestHeader) bool {
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

// isHost is for a host with or without a port (RFC 9112, 3.2). An empty host is none: no http URI has it (RFC 9110, 4.2.1).
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

// isHostName is for what RFC 3986 calls a reg-name, and some bytes more.
func isHostName(text []byte, more string) bool {
	for i, c := range text {
		switch {
		case isLetterOrDigit(c):
		case c == '%':
			if i+2 >= len(text) || hexDigit(text[i+1]) < 0 || hexDigit(text[i+2]) < 0 {
				return false
			}
		case strings.IndexByte("-._~!$&'()*+,;=", c) < 0 && strings.IndexByte(more, c) < 0:
			return false
		}
	}
	return true
}
