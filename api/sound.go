package api

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// refuseUnsound answers a request that the HTTP library takes for a good one, while others may read something else in it. The connection ends with it, since
// where the next request would begin is in doubt.
func (s *Server) refuseUnsound(ctx *fasthttp.RequestCtx) bool {
	if !isUncoded(ctx.Request.Header.RawHeaders()) {
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
