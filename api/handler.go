package api

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"unsafe"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/encode"
	"hdqs/api/metrics"
	"hdqs/api/wire"
	"hdqs/internal/nearest"
)

// maxURI is the longest accepted path with query, in bytes. A request with every parameter of an
// endpoint at its maximum, in percent-encoded four-byte characters, is shorter, apart from lists of
// several values. It has room for six lists of 200 ids.
const maxURI = 48 << 10

// route is what answers a path: a list endpoint, or a handler.
type route struct {
	mount       *mount
	list        *contract.Plan
	computation *computation // of a list that is not of rows
	public      bool         // a list that needs no identifier
	handler     fasthttp.RequestHandler
	name        string // in metrics: the same for all paths of one thing
	endpoint    int    // position in Server.endpoints
}

// handle answers every request of the public listener. It checks in the order of the contract:
// first what does not depend on the caller, then identifier, path, method, parameters.
func (s *Server) handle(ctx *fasthttp.RequestCtx) {
	debug.SetPanicOnFault(true) // see suspect.go
	defer s.recovered(ctx)
	if s.refuseMalformed(ctx) {
		return
	}
	if len(ctx.Request.Header.RequestURI()) > maxURI {
		s.answerFault(ctx, fasthttp.StatusRequestURITooLong, bodyURITooLong)
		return
	}
	if header := &ctx.Request.Header; !header.IsHTTP11() && !bytes.HasPrefix(header.Protocol(), []byte("HTTP/1.")) {
		s.answerFault(ctx, fasthttp.StatusHTTPVersionNotSupported, bodyVersionNotSupported)
		ctx.SetConnectionClose()
		wire.CutShort(ctx.Conn())
		return
	}
	path := pathOf(ctx)
	handler := s.handlerOf(path)
	if ctx.IsOptions() && (handler != nil || path == wholeServer || isPreflight(&ctx.Request.Header)) {
		optionsHead.begin(ctx)
		s.setSnapshot(&ctx.Response.Header)
		ctx.SetStatusCode(fasthttp.StatusNoContent)
		return
	}
	switch {
	case handler != nil:
		handler(ctx)
	case s.identified(ctx, path):
		s.answerUnknown(ctx, path)
	}
}

// identified checks the identifier of a request if its path needs one. If the check fails, it
// answers the request and returns false.
func (s *Server) identified(ctx *fasthttp.RequestCtx, path string) bool {
	m := s.mountOf(path)
	if !contract.NeedsIdentifier(path[len(m.prefix):], m.names) {
		return true
	}
	err := s.checkIdentifier(ctx, m, contract.QueryIdentifier(ctx.URI().QueryString()))
	if err != nil {
		s.answerError(ctx, err)
	}
	return err == nil
}

// wholeServer is the target of an OPTIONS request about the whole server.
const wholeServer = "*"

// refuseMalformed answers a request that other servers may interpret differently, and closes its
// connection.
func (s *Server) refuseMalformed(ctx *fasthttp.RequestCtx) bool {
	malformed, conditions := wire.Inspect(&ctx.Request.Header)
	recordOf(ctx).noteConditions(conditions)
	if !malformed {
		return false
	}
	s.answerFault(ctx, fasthttp.StatusBadRequest, bodyBadRequest)
	ctx.SetConnectionClose()
	wire.CutShort(ctx.Conn())
	return true
}

// isPreflight recognises a browser's preflight request. It never has an identifier. A page can read
// the answer to its own request, even a 404, only if the preflight succeeded, so preflights are
// answered on every path.
func isPreflight(h *fasthttp.RequestHeader) bool {
	return len(h.Peek("Origin")) > 0 && len(h.Peek("Access-Control-Request-Method")) > 0
}

// pathOf returns the path without percent encoding. It is not normalised: "/a/../b" has no route.
// An empty path is the root (RFC 9110, 4.2.3), as in "http://a?limit=1". The result is valid until
// the request has been answered.
func pathOf(ctx *fasthttp.RequestCtx) string {
	sent := ctx.Request.Header.RequestURI()
	if sent[0] != '/' {
		sent = ctx.URI().PathOriginal()
	} else { // fasthttp would parse a host from "//a/docs?://"
		sent, _, _ = bytes.Cut(sent, queryMark)
		sent, _, _ = bytes.Cut(sent, fragmentMark)
	}
	if len(sent) == 0 {
		return "/"
	}
	if bytes.IndexByte(sent, '%') >= 0 {
		sent = contract.AppendUnescaped(nil, sent, false)
	}
	return textOf(sent)
}

var queryMark, fragmentMark = []byte{'?'}, []byte{'#'}

// textOf returns bytes of a request as a string without copying them. It is valid until the request
// has been answered.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// recovered turns a panic into a 500. The connection is closed, since the state of the request is
// unknown.
func (s *Server) recovered(ctx *fasthttp.RequestCtx) {
	if fault := recover(); fault != nil {
		ctx.Response.Reset()
		s.answerFault(ctx, fasthttp.StatusInternalServerError, bodyInternal)
		s.logPanic(fault, string(ctx.Response.Header.Peek(headerRequestID)))
		ctx.SetConnectionClose()
	}
}

// checkIdentifier checks the application identifier in the query, or the one in a header if the
// query has none.
func (s *Server) checkIdentifier(ctx *fasthttp.RequestCtx, m *mount, inQuery []byte) error {
	if s.options.Identifier == IgnoreIdentifier {
		return nil
	}
	identifier := inQuery
	for set := contract.ContractNames; len(identifier) == 0 && set <= contract.HAPINames; set++ {
		identifier = ctx.Request.Header.Peek(set.IdentifierHeader())
	}
	fault := s.known.check(identifier, m.help)
	switch rec := recordOf(ctx); {
	case fault == nil:
		rec.noteIdentifier(metrics.Valid, identifier)
		return nil
	case len(identifier) == 0:
		rec.noteIdentifier(metrics.Missing, nil)
	default:
		rec.noteIdentifier(metrics.Invalid, nil)
	}
	if s.options.Identifier == ObserveIdentifier {
		return nil
	}
	return fault
}

// answerUnknown answers a path without a route: with a redirect if the path has a route without its
// trailing slashes, or is a prefix without its slash; otherwise with 404.
func (s *Server) answerUnknown(ctx *fasthttp.RequestCtx, path string) {
	short := strings.TrimRight(path, "/")
	if path == s.mountOf(path).prefix {
		short = path + "/"
	}
	if len(short) == len(path) || s.handlerOf(short) == nil {
		h := notFoundHead.begin(ctx)
		if moved := contract.HAPIPrefix + path; contract.IsV1(path) && s.handlerOf(moved) != nil {
			s.finishFault(ctx, fasthttp.StatusNotFound, bodyNotFound) // the contract has no more in it
			h.Set(contract.HeaderHint, "version 1 is at "+moved)
			h.Set("Link", "<"+moved+`>; rel="related"`)
			return
		}
		s.finishFault(ctx, fasthttp.StatusNotFound, bodyNotFound)
		if near := s.nearestPath(path); near != "" {
			h.Set("Link", "<"+near+`>; rel="related"`)
		}
		return
	}
	h := plainHead.begin(ctx)
	s.setSnapshot(h)
	if query := ctx.URI().QueryString(); len(query) > 0 {
		short += "?" + string(query)
	}
	h.Set("Location", short)
	h.Set("Cache-Control", noStore)
	ctx.SetStatusCode(fasthttp.StatusTemporaryRedirect)
}

// nearestPath returns the path with a route that was probably meant, empty if none is near. What is
// computed of an endpoint's rows is looked for in two steps, so that a path is not compared with
// every such path of every endpoint.
func (s *Server) nearestPath(path string) string {
	m := s.mountOf(path)
	if at := strings.LastIndexByte(path, '/'); at > 0 && len(s.computations) > 0 {
		kind := nearest.Of(path[at+1:], s.computedKinds())
		endpoint := path[:at]
		if kind != "" && s.handlerOf(endpoint) == nil {
			endpoint = nearest.Of(endpoint, m.paths)
		}
		meant := endpoint + "/" + kind
		if kind != "" && strings.Count(meant, "/") == strings.Count(path, "/") && s.handlerOf(meant) != nil {
			return meant
		}
	}
	return nearest.Of(path, m.paths)
}

// answerFault sends a fixed JSON body that no cache may store.
func (s *Server) answerFault(ctx *fasthttp.RequestCtx, status int, body string) {
	faultHead.begin(ctx)
	s.finishFault(ctx, status, body)
}

// finishFault completes an error answer after its head, with an id by which the caller can report
// the request.
func (s *Server) finishFault(ctx *fasthttp.RequestCtx, status int, body string) {
	s.setSnapshot(&ctx.Response.Header)
	var id [2 * requestIDBytes]byte
	newRequestID(&id)
	ctx.Response.Header.SetCanonical(nameRequestID, id[:])
	ctx.SetStatusCode(status)
	ctx.SetBodyString(body)
}

// requestIDBytes is the length of a request's id before it is written in hexadecimal digits.
const requestIDBytes = 16

// newRequestID makes a random id. It is used only to search the log.
func newRequestID(to *[2 * requestIDBytes]byte) {
	var id [requestIDBytes]byte
	binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	hex.Encode(to[:], id[:])
}

// setSnapshot writes the id of the served snapshot into an answer that does not depend on it.
func (s *Server) setSnapshot(h *fasthttp.ResponseHeader) {
	if v := s.current.Load(); v != nil {
		h.SetCanonical(nameSnapshot, v.idField)
	}
}

// answerError answers with the status and body of an error.
func (s *Server) answerError(ctx *fasthttp.RequestCtx, err error) {
	status, body := errorAnswer(err)
	s.answerFault(ctx, status, textOf(body)) // which copies it
	switch status {
	case fasthttp.StatusServiceUnavailable:
		wait := retryAfter
		if _, ok := errors.AsType[*Refused](err); ok {
			wait = retryRefused
		}
		ctx.Response.Header.SetCanonical(nameRetryAfter, wait)
	case fasthttp.StatusMethodNotAllowed:
		ctx.Response.Header.Set("Allow", contract.AllowedMethods)
	case fasthttp.StatusNotAcceptable:
		ctx.Response.Header.Set("Vary", "Accept-Encoding")
	case fasthttp.StatusUnprocessableEntity:
		if fault, ok := errors.AsType[*contract.Invalid](err); ok && fault.Preferred {
			ctx.Response.Header.Set("Preference-Applied", strictHandling)
		}
	}
}

// acceptEncoding joins the values of Accept-Encoding with commas. The result is valid until the
// request has been answered.
func acceptEncoding(ctx *fasthttp.RequestCtx) string {
	values := ctx.Request.Header.PeekAll(fasthttp.HeaderAcceptEncoding)
	switch len(values) {
	case 0:
		return ""
	case 1:
		return textOf(values[0])
	}
	return string(bytes.Join(values, []byte(",")))
}

// encoded appends a compressed body, or the body itself if it is too short for compression to help
// and the client accepts that.
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
