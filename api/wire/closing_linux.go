package wire

import (
	"syscall"

	"github.com/valyala/fasthttp"
	"golang.org/x/sys/unix"
)

// rejectSYN is a filter of TCP segments, of which it sees the TCP header first. It drops those that
// open a connection (SYN without ACK).
var rejectSYN = []unix.SockFilter{
	{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 13}, // the flags
	{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0x12},
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 0x02, Jf: 1},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff},
}

// rejectNew drops new connection attempts. Connections that the kernel has already opened can still
// be accepted. Closing the listener at once would reset them, although their clients may have sent
// a request. Clients of dropped attempts try again after a second, when the listener is closed.
func rejectNew(l syscall.Conn) error {
	raw, err := l.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		program := unix.SockFprog{Len: uint16(len(rejectSYN)), Filter: &rejectSYN[0]}
		failed = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program)
	})
	if err != nil {
		return err
	}
	return failed
}

// HasLeft reports whether the client has closed its connection, so that nobody waits for the answer
// of the request. fasthttp notices that only when it writes.
func HasLeft(ctx *fasthttp.RequestCtx) (left bool) {
	c, _ := ctx.Conn().(*conn)
	if c == nil {
		return false
	}
	if socket, ok := c.Conn.(syscall.Conn); ok {
		raw, err := socket.SyscallConn()
		if err != nil {
			return true
		}
		err = raw.Control(func(fd uintptr) {
			n, _, err := unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
			left = n == 0 && err == nil || err == unix.ECONNRESET
		})
		left = left || err != nil
	}
	return left
}
