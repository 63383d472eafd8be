package wire

import (
	"errors"
	"net"

	"github.com/valyala/fasthttp"
)

// LimitExpectation is the fasthttp.Server's HeaderReceived. It drops the 100-continue expectation
// of a request whose body is longer than maxBody. Then the length is refused at once, and the
// client is not invited to send a body that will be refused.
func LimitExpectation(maxBody int) func(*fasthttp.RequestHeader) fasthttp.RequestConfig {
	return func(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
		if h.ContentLength() > maxBody {
			h.Del(fasthttp.HeaderExpect)
		}
		return fasthttp.RequestConfig{}
	}
}

// UnreadStatus returns the status of the answer to a request that fasthttp could not read, by its
// error.
func UnreadStatus(ctx *fasthttp.RequestCtx, err error) int {
	var small *fasthttp.ErrSmallBuffer
	var network net.Error
	c, _ := ctx.Conn().(*conn)
	switch {
	case c != nil && c.request.refused:
		return fasthttp.StatusServiceUnavailable
	case c != nil && c.request.tooLong:
		return fasthttp.StatusRequestEntityTooLarge
	case errors.As(err, &small) && c != nil && c.request.line >= c.all.options.ReadBuffer &&
		len(ctx.Request.Header.RawHeaders()) == 0: // otherwise the line is in the trailers
		return fasthttp.StatusRequestURITooLong
	case errors.As(err, &small):
		return fasthttp.StatusRequestHeaderFieldsTooLarge
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		return fasthttp.StatusRequestEntityTooLarge
	case errors.As(err, &network) && network.Timeout():
		return fasthttp.StatusRequestTimeout
	}
	return fasthttp.StatusBadRequest
}

// IsHead reports whether a request is a HEAD, even if fasthttp could not read its header.
func IsHead(ctx *fasthttp.RequestCtx) bool {
	c, ok := ctx.Conn().(*conn)
	return ctx.IsHead() || ok && c.request.isHead()
}
