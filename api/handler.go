package api

import (
	"bytes"
	"strconv"
	"strings"
	"sync"

	"github.com/valyala/fasthttp"

	"hdqs/api/encode"
	"hdqs/api/render"
	"hdqs/index"
)

// maxURI is the longest path and query we read, in bytes. A request with every parameter of an endpoint at its maximum, in percent-encoded
// four-byte characters, is shorter.
const maxURI = 48 << 10

// minEncoded is the longest body that is sent as it is even when the client takes compressed ones.
const minEncoded = 1 << 10

// surelyLong is how many rows are longer than minEncoded in any format: no line of a record is below 8 bytes.
const surelyLong = minEncoded / 8

// scratch is the memory of one list request. It is used again when the request is answered.
type scratch struct {
	request request
	page    index.Page
	body    []byte // plain bytes of a body that is sent compressed
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// keepBody is the largest body buffer worth keeping for the next request.
const keepBody = 8 << 20

func (s *scratch) release() {
	if cap(s.body) > keepBody {
		s.body = nil
	}
	scratches.Put(s)
}

// handle answers every request of the public listener, in the order of the contract: what can be said without knowing the caller,
// identifier, path, method, parameters.
func (s *Server) handle(ctx *fasthttp.RequestCtx) {
	defer s.recovered(ctx)
	setShared(&ctx.Response.Header)
	if len(ctx.Request.Header.RequestURI()) > maxURI {
		answerFault(ctx, fasthttp.StatusRequestURITooLong, bodyURITooLong)
		return
	}
	path := pathOf(ctx)
	route := s.route(path)
	if route != nil && ctx.IsOptions() {
		answerOptions(ctx)
		return
	}
	if fault := s.identify(ctx, path); fault != nil {
		answerError(ctx, fault)
		return
	}
	switch {
	case route == nil:
		s.answerUnknown(ctx, path)
	case !ctx.IsGet() && !ctx.IsHead():
		ctx.Response.Header.Set("Allow", allowedMethods)
		answerFault(ctx, fasthttp.StatusMethodNotAllowed, bodyMethodNotAllowed)
	default:
		route(ctx)
	}
}

// pathOf is the path as it was sent, less its percent encoding. It is not made shorter: "/a/../b" is no route.
func pathOf(ctx *fasthttp.RequestCtx) string {
	sent := ctx.URI().PathOriginal()
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
		s.logPanic(fault)
		ctx.Response.Reset()
		setShared(&ctx.Response.Header)
		answerFault(ctx, fasthttp.StatusInternalServerError, bodyInternal)
		ctx.SetConnectionClose()
	}
}

// identify checks the application identifier where one is needed.
func (s *Server) identify(ctx *fasthttp.RequestCtx, path string) error {
	if s.options.Identifier == IgnoreIdentifier || !needsIdentifier(path) {
		return nil
	}
	var room [maxIdentifier]byte
	value := identifierOf(ctx.URI().QueryString(), ctx.Request.Header.Peek(identifierHeader), room[:0])
	fault := checkIdentifier(value)
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
		answerFault(ctx, fasthttp.StatusNotFound, bodyNotFound)
		return
	}
	h := &ctx.Response.Header
	if query := ctx.URI().QueryString(); len(query) > 0 {
		short += "?" + string(query)
	}
	h.Set("Location", short)
	h.Set("Cache-Control", "no-store")
	ctx.SetStatusCode(fasthttp.StatusTemporaryRedirect)
}

// answerOptions answers OPTIONS, a browser's question before a request of another origin among them.
func answerOptions(ctx *fasthttp.RequestCtx) {
	h := &ctx.Response.Header
	h.Set("Allow", allowedMethods)
	h.Set("Access-Control-Allow-Methods", allowedMethods)
	h.Set("Access-Control-Allow-Headers", preflightHeaders)
	h.Set("Access-Control-Max-Age", preflightSeconds)
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}

// answerFault sends a fixed JSON body that no cache may keep.
func answerFault(ctx *fasthttp.RequestCtx, status int, body string) {
	ctx.Response.Header.Set("Cache-Control", "no-store")
	ctx.Response.Header.SetContentType(jsonType)
	ctx.SetStatusCode(status)
	ctx.SetBodyString(body)
}

func answerError(ctx *fasthttp.RequestCtx, err error) {
	status, body := errorAnswer(err)
	if status == fasthttp.StatusServiceUnavailable {
		ctx.Response.Header.Set("Retry-After", "1")
	}
	answerFault(ctx, status, string(body))
}

// answerList answers one list endpoint.
func (s *Server) answerList(ctx *fasthttp.RequestCtx, p *plan) {
	sc := scratches.Get().(*scratch)
	defer sc.release()
	if err := sc.request.read(p, ctx.URI().QueryString()); err != nil {
		answerError(ctx, err)
		return
	}
	served := s.acquire()
	if served == nil {
		answerError(ctx, errNoSnapshot)
		return
	}
	defer served.release(s.log)
	h := &ctx.Response.Header
	h.Set("Vary", "Accept-Encoding")
	accept := acceptEncoding(ctx)
	coding, ok := encode.Negotiate(accept)
	if !ok {
		answerError(ctx, errNotAcceptable)
		return
	}
	list := served.bound.lists[p.endpoint.Path]
	if err := list.find(sc); err != nil {
		s.logFault(p.endpoint.Path, err)
		answerError(ctx, err)
		return
	}
	h.Set(headerTotal, strconv.Itoa(sc.page.Total))
	if sc.request.csv {
		h.SetContentType(csvType)
		name := fileName(p, &sc.request, served.date)
		h.Set("Content-Disposition", `attachment; filename="`+name+`"; filename*=UTF-8''`+name)
	} else {
		h.SetContentType(jsonType)
	}
	// The body goes straight into the response's buffer unless it must be seen before it is compressed.
	buffer := ctx.Response.SwapBody(nil)[:0]
	if coding == encode.Identity {
		ctx.Response.SwapBody(list.append(buffer, sc))
		return
	}
	if list.renderer != nil && sc.page.Rows >= surelyLong {
		h.Set("Content-Encoding", coding.String())
		ctx.Response.SwapBody(list.form(sc).AppendCoded(buffer, coding, sc.page.Ranges))
		return
	}
	sc.body = list.append(sc.body[:0], sc)
	ctx.Response.SwapBody(encoded(h, buffer, sc.body, coding, encode.RefusesIdentity(accept)))
}

// find fills the page.
func (l *boundList) find(sc *scratch) error {
	sc.page.Ranges, sc.page.Rows, sc.page.Total = sc.page.Ranges[:0], 0, 0
	if l.index == nil {
		return nil
	}
	return l.index.Select(&sc.request.query, &sc.page)
}

// append writes the page's bytes.
func (l *boundList) append(dst []byte, sc *scratch) []byte {
	switch {
	case l.renderer == nil && sc.request.csv:
		return append(dst, l.emptyCSV...)
	case l.renderer == nil:
		return append(dst, emptyJSON...)
	}
	return l.form(sc).Append(dst, sc.page.Ranges)
}

// form is the renderer's of the format asked for.
func (l *boundList) form(sc *scratch) *render.Form {
	if sc.request.csv {
		return l.renderer.CSV()
	}
	return l.renderer.JSON()
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
