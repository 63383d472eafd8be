//go:build !linux

package wire

import (
	"syscall"

	"github.com/valyala/fasthttp"
)

// rejectNew needs a socket filter, which only Linux has. Elsewhere connections that begin as the
// listener closes may be reset.
func rejectNew(syscall.Conn) error { return nil }

// HasLeft needs a look at the socket. Elsewhere work goes on to its end.
func HasLeft(*fasthttp.RequestCtx) bool { return false }
