package wire

import (
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// sendFile sends up to n bytes of a file with sendfile(2). It sends fewer without an error if the
// connection has no descriptor, or the file ends.
func sendFile(c net.Conn, from *fileReader, n int64) (sent int64, err error) {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return 0, nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return 0, err
	}
	source, err := from.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	var fault error
	controlErr := source.Control(func(file uintptr) {
		err = raw.Write(func(to uintptr) (done bool) {
			for sent < n {
				at := from.at + sent
				k, err := unix.Sendfile(int(to), int(file), &at, int(n-sent))
				switch {
				case err == unix.EINTR:
					continue
				case err == unix.EAGAIN:
					return false
				case err != nil:
					fault = os.NewSyscallError("sendfile", err)
					return true
				case k == 0:
					return true
				}
				sent += int64(k)
			}
			return true
		})
	})
	from.at += sent
	for _, e := range []error{controlErr, fault, err} {
		if e != nil {
			return sent, e
		}
	}
	return sent, nil
}
