package api

import (
	"bytes"
	"strconv"

	"github.com/valyala/fasthttp"

	"hdqs/api/reply"
)

// Answer is a response as HTTP would send it.
type Answer struct {
	Status int
	Header []reply.HeaderField
	Body   []byte
}

// Answer answers one request without a network, with the handler of HTTP requests. target is path
// and query as on a request line.
func (s *Server) Answer(method, target string, header []reply.HeaderField) Answer {
	var ctx fasthttp.RequestCtx
	var request fasthttp.Request
	request.Header.SetMethod(method)
	request.SetRequestURI(target)
	for _, f := range header {
		request.Header.Add(f.Name, f.Value)
	}
	ctx.Init(&request, nil, s.State.Faults)
	ctx.Response.Header.SetNoDefaultContentType(true)
	s.handle(&ctx)
	body := s.bodyOf(&ctx)
	answer := Answer{Status: ctx.Response.StatusCode()}
	for name, value := range ctx.Response.Header.All() {
		if string(name) != fasthttp.HeaderContentLength {
			answer.Header = append(answer.Header, reply.HeaderField{Name: string(name), Value: string(value)})
		}
	}
	length := len(body)
	if length == 0 { // HEAD may know the length without a body
		length = max(0, ctx.Response.Header.ContentLength())
	}
	// fasthttp omits a length of zero for HEAD, unless it was set, and for statuses that never have
	// a body.
	bodiless := answer.Status == fasthttp.StatusNoContent || answer.Status == fasthttp.StatusNotModified
	set := len(ctx.Response.Header.Peek(fasthttp.HeaderContentLength)) > 0
	if !bodiless && (length > 0 || set || method != fasthttp.MethodHead) {
		value := strconv.Itoa(length)
		answer.Header = append(answer.Header, reply.HeaderField{Name: fasthttp.HeaderContentLength, Value: value})
	}
	if method != fasthttp.MethodHead {
		answer.Body = body
	}
	return answer
}

// bodyOf returns the whole body. If rendering it fails, the answer becomes that of the error: no
// header has been sent yet.
func (s *Server) bodyOf(ctx *fasthttp.RequestCtx) []byte {
	var body bytes.Buffer
	err := ctx.Response.BodyWriteTo(&body)
	if err == nil {
		return body.Bytes()
	}
	ctx.Response.Reset()
	s.State.AnswerError(ctx, err)
	return ctx.Response.Body()
}
