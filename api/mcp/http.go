package mcp

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpadaptor"
)

// MaxBody is the longest message that is read over HTTP. Clients send what they are with each one.
const MaxBody = 32 << 10

// Handler answers messages over HTTP, each by itself, so that any replica can answer any of them.
// base is the address of the service for a request.
func (s *Server) Handler(base func(*fasthttp.RequestCtx) string) fasthttp.RequestHandler {
	library := s.library(MaxBody)
	return func(ctx *fasthttp.RequestCtx) {
		all, isBatch := readMessages(ctx.PostBody(), string(ctx.Request.Header.Peek("MCP-Protocol-Version")))
		if !ctx.IsPost() {
			all = []message{{}} // which the library refuses
		}
		var answers [][]byte
		for i := range all {
			status, body := all[i].answer(ctx, library, base(ctx))
			if ctx.SetStatusCode(status); len(body) > 0 {
				answers = append(answers, body)
			}
		}
		body := bytes.Join(answers, []byte(","))
		if isBatch && len(answers) > 0 {
			ctx.SetStatusCode(fasthttp.StatusOK)
			body = slices.Concat([]byte("["), body, []byte("]"))
		}
		ctx.Response.SetBodyRaw(body)
	}
}

// accepted are the forms of answers that the library wants to be accepted. It sends JSON.
const accepted = "application/json, text/event-stream"

// library is what answers single messages of at most so many bytes.
func (s *Server) library(most int64) fasthttp.RequestHandler {
	return fasthttpadaptor.NewFastHTTPHandler(mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return s.Server }, &mcp.StreamableHTTPOptions{
			Stateless: true, JSONResponse: true, MaxRequestBodyBytes: most,
			DisableLocalhostProtection: true, // Foreign is stricter
		}))
}

// answer answers a message. What the library refuses as plain text becomes an error with the id.
func (m *message) answer(ctx *fasthttp.RequestCtx, library fasthttp.RequestHandler, base string) (int, []byte) {
	if m.fault != nil {
		return fasthttp.StatusBadRequest, m.refusal()
	}
	// The library may go on with a message after it has answered, when buffers and context are
	// those of another request. So it gets copies.
	var own fasthttp.RequestCtx
	own.Init(&ctx.Request, nil, nil)
	own.Request.SetBody(m.text)
	own.Request.Header.Set("Accept", accepted)
	own.SetUserValue(baseKey{}, base)
	library(&own)
	status, body := own.Response.StatusCode(), bytes.TrimSpace(own.Response.Body())
	if status < fasthttp.StatusBadRequest || json.Valid(body) {
		return status, body
	}
	if status == fasthttp.StatusMethodNotAllowed {
		ctx.Response.Header.Set("Allow", fasthttp.MethodPost)
	}
	m.fault = invalidf("%s", body)
	if bytes.HasPrefix(body, []byte("JSON RPC not handled")) {
		if m.id == nil {
			return fasthttp.StatusAccepted, nil // a notification without a meaning here
		}
		m.fault.Code, status = jsonrpc.CodeMethodNotFound, fasthttp.StatusOK
	}
	return status, m.refusal()
}

// AllowPages lets pages of other origins send messages, in the answer to a preflight request.
func AllowPages(h *fasthttp.ResponseHeader) {
	h.Set("Allow", "POST, OPTIONS")
	h.Set("Access-Control-Allow-Methods", "POST, OPTIONS")
	h.Set("Access-Control-Allow-Headers", string(h.Peek("Access-Control-Allow-Headers"))+
		", Authorization, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id")
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
