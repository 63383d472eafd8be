package background

import (
	"encoding/binary"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// looker has the Go runtime look at the network.
type looker struct {
	events syscall.RawConn // nil before the first look
	signal func(fd uintptr) (done bool)
	sent   bool
}

// look returns when the runtime has looked at the network, after the goroutines that were ready and
// those that wait for what was found. To be woken by the network itself is the only way to wait for
// that.
func (l *looker) look() {
	if l.events == nil {
		l.open()
	}
	if l.events != nil {
		l.sent = false
		_ = l.events.Read(l.signal) // without a wait on error
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
