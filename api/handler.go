package api

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/encode"
)

// maxURI is the longest path and query we read, in bytes. A request with every parameter of an endpoint at its maximum, in percent-encoded
// four-byte characters, is shorter.
const maxURI = 48 << 10

// handle answers every request of the public listener, in the order of the contract: what can be said without knowing the caller,
// identifier, path, method, parameters.
func (s *Server) handle(ctx *fasthttp.RequestCtx) {
	defer s.recovered(ctx)
	if s.refuseUnsound(ctx) {
		return
	}
	if len(ctx.Request.Header.RequestURI()) > maxURI {
		s.answerFault(ctx, fasthttp.StatusRequestURITooLong, bodyURITooLong)
		return
	}
	if header := &ctx.Request.Header; !header.IsHTTP11() && !bytes.HasPrefix(header.Protocol(), []byte("HTTP/1.")) {
		s.answerFault(ctx, fasthttp.StatusHTTPVersionNotSupported, bodyVersionNotSupported)
		ctx.SetConnectionClose()
		cutShort(ctx.Conn())
		return
	}
	path := pathOf(ctx)
	route := s.route(path)
	if ctx.IsOptions() && (route != nil || path == wholeServer || isPreflight(&ctx.Request.Header)) {
		optionsHead.begin(ctx)
		s.tellSnapshot(&ctx.Response.Header)
		ctx.SetStatusCode(fasthttp.StatusNoContent)
		return
	}
	if fault := s.identify(ctx, path); fault != nil {
		s.answerError(ctx, fault)
		return
	}
	switch {
	case route == nil:
		s.answerUnknown(ctx, path)
	case !ctx.IsGet() && !ctx.IsHead():
		s.answerFault(ctx, fasthttp.StatusMethodNotAllowed, bodyMethodNotAllowed)
		ctx.Response.Header.Set("Allow", allowedMethods)
	default:
		route(ctx)
	}
}

// wholeServer is the target of an OPTIONS request that asks about no path.
const wholeServer = "*"

// isPreflight tells a browser's question from other OPTIONS. It never has an identifier, and a page learns what its request would get, a 404 too, only
// when the question is answered well: so it is answered on every path.
func isPreflight(h *fasthttp.RequestHeader) bool {
	return len(h.Peek("Origin")) > 0 && len(h.Peek("Access-Control-Request-Method")) > 0
}

// pathOf is the path as it was sent, less its percent encoding. It is not made shorter: "/a/../b" is no route. None at all is that of the root (RFC 9110,
// 4.2.3), as in "http://a?limit=1".
func pathOf(ctx *fasthttp.RequestCtx) string {
	sent := ctx.Request.Header.RequestURI()
	if sent[0] != '/' {
		sent = ctx.URI().PathOriginal()
	} else if end := bytes.IndexAny(sent, "?#"); end >= 0 { // the library would find a host in "//a/docs?://"
		sent = sent[:end]
	}
	if len(sent) == 0 {
		return "/"
	}
	if bytes.IndexByte(sent, '%') >= 0 {
		sent = appendUnescaped(nil, sent, false)
	}
	return string(sent)
}

// route is the handler of a path, nil for an unknown one.
func (s *Server) route(path string) fasthttp.RequestHandler {
	handler, _ := s.router.Lookup(fasthttp.MethodGet, path, nil)
	return handler
}

// recovered turns a panic into a 500. The connection is closed: what the request left behind is not known.
func (s *Server) recovered(ctx *fasthttp.RequestCtx) {
	if fault := recover(); fault != nil {
		ctx.Response.Reset()
		s.answerFault(ctx, fasthttp.StatusInternalServerError, bodyInternal)
		s.logPanic(fault, string(ctx.Response.Header.Peek(headerRequestID)))
		ctx.SetConnectionClose()
	}
}

// identify checks the application identifier where one is needed.
func (s *Server) identify(ctx *fasthttp.RequestCtx, path string) error {
	if s.options.Identifier == IgnoreIdentifier || !needsIdentifier(path) {
		return nil
	}
	fault := s.known.check(identifierOf(ctx.URI().QueryString(), ctx.Request.Header.Peek(identifierHeader)))
	if fault == nil {
		return nil
	}
	s.unidentified.Add(1)
	if s.options.Identifier == ObserveIdentifier {
		return nil
	}
	return fault
}

// answerUnknown answers a path that no route has: a redirect when only slashes at the end are too much, else 404.
func (s *Server) answerUnknown(ctx *fasthttp.RequestCtx, path string) {
	short := strings.TrimRight(path, "/")
	if len(short) == len(path) || s.route(short) == nil {
		h := notFoundHead.begin(ctx)
		s.finishFault(ctx, fasthttp.StatusNotFound, bodyNotFound)
		if near := s.nearest(path); near != "" {
			h.Set("Link", "<"+near+`>; rel="related"`)
		}
		return
	}
	h := plainHead.begin(ctx)
	s.tellSnapshot(h)
	if query := ctx.URI().QueryString(); len(query) > 0 {
		short += "?" + string(query)
	}
	h.Set("Location", short)
	h.Set("Cache-Control", noStore)
	ctx.SetStatusCode(fasthttp.StatusTemporaryRedirect)
}

// answerFault sends a fixed JSON body that no cache may keep.
func (s *Server) answerFault(ctx *fasthttp.RequestCtx, status int, body string) {
	faultHead.begin(ctx)
	s.finishFault(ctx, status, body)
}

// finishFault sends a body after a head, and a name by which the caller can tell us of the request.
func (s *Server) finishFault(ctx *fasthttp.RequestCtx, status int, body string) {
	s.tellSnapshot(&ctx.Response.Header)
	ctx.Response.Header.SetCanonical(nameRequestID, newRequestID())
	ctx.SetStatusCode(status)
	ctx.SetBodyString(body)
}

// newRequestID names a request. Nothing depends on it but a search in the log.
func newRequestID() []byte {
	var id [16]byte
	binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	return hex.AppendEncode(nil, id[:])
}

// tellSnapshot names the served snapshot in an answer that does not come from it.
func (s *Server) tellSnapshot(h *fasthttp.ResponseHeader) {
	if id := s.currentID(); id != "" {
		h.Set(headerSnapshot, id)
	}
}

func (s *Server) answerError(ctx *fasthttp.RequestCtx, err error) {
	status, body := errorAnswer(err)
	s.answerFault(ctx, status, string(body))
	switch status {
	case fasthttp.StatusServiceUnavailable:
		ctx.Response.Header.SetCanonical(nameRetryAfter, retryAfter)
	case fasthttp.StatusNotAcceptable:
		ctx.Response.Header.Set("Vary", "Accept-Encoding")
	case fasthttp.StatusUnprocessableEntity:
		if fault := (*Invalid)(nil); errors.As(err, &fault) && fault.Wished {
			ctx.Response.Header.Set("Preference-Applied", strictHandling)
		}
	}
}

// acceptEncoding is the field's values joined by commas.
func acceptEncoding(ctx *fasthttp.RequestCtx) string {
	values := ctx.Request.Header.PeekAll(fasthttp.HeaderAcceptEncoding)
	switch len(values) {
	case 0:
		return ""
	case 1:
		return string(values[0])
	}
	return string(bytes.Join(values, []byte(",")))
}

// encoded appends a body in a coding, or as it is when it is too short to gain and the client takes it so.
func encoded(h *fasthttp.ResponseHeader, dst, body []byte, coding encode.Coding, always bool) []byte {
	if coding == encode.Identity || len(body) <= minEncoded && !always {
		return append(dst, body...)
	}
	h.Set("Content-Encoding", coding.String())
	if coding == encode.Zstd {
		return encode.AppendZstd(dst, body)
	}
	return encode.AppendGzip(dst, body)
}
