package mcp

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpadaptor"
)

// MaxBody is the longest message that is read over HTTP. Clients send what they are with each one.
const MaxBody = 32 << 10

// mostMessages is how many messages a request may have. They share one slot of pages, and hundreds
// would keep people from all pages.
const mostMessages = 8

// Handler answers messages over HTTP, each by itself, so that any replica can answer any of them.
// base is the address of the service for a request.
func (s *Server) Handler(base func(*fasthttp.RequestCtx) string) fasthttp.RequestHandler {
	handler := fasthttpadaptor.NewFastHTTPHandler(mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return s.Server }, &mcp.StreamableHTTPOptions{
			Stateless: true, JSONResponse: true, MaxRequestBodyBytes: MaxBody,
			DisableLocalhostProtection: true, // Foreign is stricter
		}))
	return func(ctx *fasthttp.RequestCtx) {
		var several []json.RawMessage
		if json.Unmarshal(ctx.PostBody(), &several) == nil && len(several) > mostMessages {
			ctx.SetStatusCode(fasthttp.StatusBadRequest)
			ctx.Response.SetBodyString(fmt.Sprintf(`{"detail":"A request may have %d messages"}`, mostMessages))
			return
		}
		// The library may go on with a message after it has answered, when buffers and context
		// are those of another request. So it gets copies.
		var own fasthttp.RequestCtx
		own.Init(&ctx.Request, nil, nil)
		own.Response.Header.SetNoDefaultContentType(true)
		own.SetUserValue(baseKey{}, base(ctx))
		handler(&own)
		for name, value := range own.Response.Header.All() {
			ctx.Response.Header.SetBytesKV(name, value)
		}
		ctx.SetStatusCode(own.Response.StatusCode())
		ctx.Response.SetBodyRaw(own.Response.Body())
	}
}

// Foreign says why a request may be one that a page of somebody else has made a browser send, by a
// name that it has pointed at this machine; empty if it is not. Host must be an address, this
// machine, or the host of base, the public address of the service. An Origin must be of the same
// host, or both of this machine.
func Foreign(host, origin, base string) string {
	public := ""
	if u, err := url.Parse(base); err == nil {
		public = u.Host
	}
	name := hostName(host)
	if net.ParseIP(name) == nil && !isHere(name) && !strings.EqualFold(host, public) {
		return "Host is no address, not localhost, and not that of --base-url"
	}
	if origin == "" {
		return ""
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || !strings.EqualFold(u.Host, host) && !strings.EqualFold(u.Host, public) &&
		!(isHere(hostName(u.Host)) && isHere(name)) {
		return "Origin is of another host"
	}
	return ""
}

// hostName is a host without its port.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// isHere reports whether a name is of the machine itself.
func isHere(name string) bool {
	ip := net.ParseIP(name)
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}
