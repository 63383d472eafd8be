package api

import (
	"bytes"

	"github.com/valyala/fasthttp"

	"hdqs/api/mcp"
	"hdqs/api/reply"
	"hdqs/api/wire"
)

// maxURI is the longest accepted path with query, in bytes. A request with every parameter of an
// endpoint at its maximum, in percent-encoded four-byte characters, is shorter, apart from lists of
// several values. It has room for six lists of 200 ids.
const maxURI = 48 << 10

// handle answers every request of the public listener. It checks in the order of the contract:
// first what does not depend on the caller, then identifier, path, method, parameters.
func (s *Server) handle(ctx *fasthttp.RequestCtx) {
	defer s.Lists.Requests.Recovered(ctx)
	if s.Lists.Requests.RefuseMalformed(ctx) {
		return
	}
	if len(ctx.Request.Header.RequestURI()) > maxURI {
		s.State.AnswerError(ctx, reply.ErrURITooLong)
		return
	}
	if header := &ctx.Request.Header; !header.IsHTTP11() && !bytes.HasPrefix(header.Protocol(), []byte("HTTP/1.")) {
		s.State.AnswerError(ctx, reply.ErrVersionNotSupported)
		ctx.SetConnectionClose()
		wire.CutShort(ctx.Conn())
		return
	}
	path := reply.PathOf(ctx)
	handler := s.Lists.Routes.HandlerOf(path)
	if ctx.IsOptions() && (handler != nil || path == wholeServer || isPreflight(&ctx.Request.Header)) {
		if reply.OptionsHead.Begin(ctx); s.State.Options.Agents && path == mcp.Path {
			mcp.AllowPages(&ctx.Response.Header)
		}
		s.State.SetSnapshot(&ctx.Response.Header)
		ctx.SetStatusCode(fasthttp.StatusNoContent)
		return
	}
	if handler != nil {
		handler(ctx)
		return
	}
	err := s.Lists.Routes.Identify(ctx, path)
	if err == nil {
		err = s.answerUnknown(ctx, path)
	}
	if err != nil {
		s.Lists.Admission.AnswerFailed(ctx, err)
	}
}

// wholeServer is the target of an OPTIONS request about the whole server.
const wholeServer = "*"

// isPreflight recognises a browser's preflight request. It never has an identifier. A page can read
// the answer to its own request, even a 404, only if the preflight succeeded, so preflights are
// answered on every path.
func isPreflight(h *fasthttp.RequestHeader) bool {
	return len(h.Peek("Origin")) > 0 && len(h.Peek("Access-Control-Request-Method")) > 0
}
