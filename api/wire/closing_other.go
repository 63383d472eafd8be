//go:build !linux

package wire

import "syscall"

// rejectNew needs a socket filter, which only Linux has. Elsewhere connections that begin as the
// listener closes may be reset.
func rejectNew(syscall.Conn) error { return nil }
