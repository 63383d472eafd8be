package wire

import (
	"net"
	"net/netip"
	"strings"

	"github.com/valyala/fasthttp"
)

// Client returns what counts as the client of a request: the address that the connection comes
// from or, if that is private, the last one that X-Forwarded-For names. A proxy in the same network
// adds that one; what a client itself sends in this field from elsewhere is not believed. It is
// invalid for a request without a connection of this package.
func Client(ctx *fasthttp.RequestCtx) netip.Prefix {
	c, ok := ctx.Conn().(*conn)
	if !ok {
		return netip.Prefix{}
	}
	var client netip.Addr // stays invalid for a Unix socket
	if at, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		client = at.AddrPort().Addr().Unmap()
	}
	if client.IsValid() && !client.IsLoopback() && !client.IsPrivate() {
		return clientOf(client)
	}
	if lines := ctx.Request.Header.PeekAll(fasthttp.HeaderXForwardedFor); len(lines) > 0 {
		last := string(lines[len(lines)-1])
		last = strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
		if a, err := netip.ParseAddr(last); err == nil {
			return clientOf(a)
		}
	}
	return clientOf(client)
}
