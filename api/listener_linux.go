package api

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// noMore is a filter of segments, which it gets from the TCP header on: none that opens a connection (SYN without ACK) gets through.
var noMore = []unix.SockFilter{
	{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 13}, // the flags
	{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0x12},
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 0x02, Jf: 1},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff},
}

// refuseMore lets no more connections begin. Those that have begun can be accepted as before: to close a listener at once would reset all that the kernel has
// opened, whose clients may have sent a request. New clients ask again after a second and find nobody.
func refuseMore(l syscall.Conn) error {
	raw, err := l.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(noMore)), Filter: &noMore[0]})
	})
	if err != nil {
		return err
	}
	return failed
}
