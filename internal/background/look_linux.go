package background

import (
	"encoding/binary"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// looker makes the Go runtime poll the network.
type looker struct {
	events syscall.RawConn // nil before the first look
	signal func(fd uintptr) (done bool)
	sent   bool
}

// look blocks until the Go runtime has polled the network. By then the goroutines that were ready
// have run, and so have those whose data the poll found. The runtime has no call for this, and
// Gosched does not poll. So look waits for an event of an eventfd, which only a poll delivers.
func (l *looker) look() {
	if l.events == nil {
		l.open()
	}
	if l.events != nil {
		l.sent = false
		_ = l.events.Read(l.signal) // on an error look only yields
	}
	runtime.Gosched() // the runtime wakes last what it found first
}

func (l *looker) open() {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return
	}
	file := os.NewFile(uintptr(fd), "eventfd")
	if l.events, err = file.SyscallConn(); err != nil {
		l.events = nil
		_ = file.Close()
		return
	}
	one := binary.NativeEndian.AppendUint64(nil, 1)
	l.signal = func(fd uintptr) bool {
		if l.sent {
			return true
		}
		l.sent = true
		_, err := unix.Write(int(fd), one) // an event each time, though nothing reads
		return err != nil
	}
}
