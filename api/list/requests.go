package list

import (
	"github.com/valyala/fasthttp"

	"hdqs/api/reply"
	"hdqs/api/wire"
)

// RefuseMalformed answers a request that other servers may interpret differently, and closes its
// connection.
func (s *Lists) RefuseMalformed(ctx *fasthttp.RequestCtx) bool {
	malformed, conditions := wire.Inspect(&ctx.Request.Header)
	if rec := LogOf(ctx); rec != nil {
		rec.conditions = conditions
	}
	if !malformed {
		return false
	}
	s.State.AnswerFault(ctx, fasthttp.StatusBadRequest, reply.BodyBadRequest)
	ctx.SetConnectionClose()
	wire.CutShort(ctx.Conn())
	return true
}

// Recovered turns a panic into a 500. The connection is closed, since the state of the request is
// unknown.
func (s *Lists) Recovered(ctx *fasthttp.RequestCtx) {
	if fault := recover(); fault != nil {
		ctx.Response.Reset()
		s.State.AnswerFault(ctx, fasthttp.StatusInternalServerError, reply.BodyInternal)
		s.State.LogPanic(fault, string(ctx.Response.Header.Peek(reply.HeaderRequestID)))
		ctx.SetConnectionClose()
	}
}
