package background

import (
	"net"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"hdqs/internal/testkit"
)

// TestLook checks on one core that what had arrived from the network before a look has been read
// after it, or at the latest after the next one: now and then the runtime wakes first who looked. A
// busy machine can stop the thread of the runtime that has found the reader and not yet woken it,
// so several rows of looks are tried. Without a poll none would be in time.
func TestLook(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	listener := testkit.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	client := testkit.Value(net.Dial("tcp", listener.Addr().String()))(t)
	defer client.Close()
	server := testkit.Value(listener.Accept())(t)
	defer server.Close()
	raw, err := client.(*net.TCPConn).SyscallConn()
	testkit.Must(t, err)
	var read atomic.Int64
	reads := make(chan error, 1)
	go func() {
		for space := make([]byte, 1); ; read.Add(1) {
			if _, err := server.Read(space); err != nil {
				reads <- err
				return
			}
		}
	}()
	var l looker
	l.look() // meanwhile the reader begins to wait
	written := int64(0)
	inTime := func() bool {
		if err := raw.Write(func(fd uintptr) bool {
			_, err = syscall.Write(int(fd), []byte{1})
			return true
		}); err != nil {
			t.Fatal(err)
		}
		l.look()
		written++
		return read.Load() >= written-1
	}
	testkit.WaitFor(t, "100 looks in time", func() bool {
		for range 100 {
			if !inTime() {
				t.Logf("%d bytes of %d were read", read.Load(), written)
				testkit.WaitFor(t, "the reader", func() bool { return read.Load() == written })
				return false
			}
		}
		return true
	})
	client.Close()
	if err := <-reads; err == nil {
		t.Error("the reader ended without the end of the connection")
	}
}

// BenchmarkLook measures what a look costs.
func BenchmarkLook(b *testing.B) {
	var l looker
	for b.Loop() {
		l.look()
	}
}

// niceValue is that of the calling thread.
func niceValue(t *testing.T) int {
	value, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // 20 less the nice value
	if err != nil {
		t.Error(err)
	}
	return 20 - value
}

// TestRun checks that work runs with a low priority, also while the Go runtime uses one thread
// more, and that nothing else gets a low one.
func TestRun(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	priority := func() int { return niceValue(t) }
	usual := priority()
	want := max(usual, lowPriority)
	for _, set := range []func() func(){func() func() { return func() {} }, More} {
		end := set()
		ran := false
		Run(func() {
			ran = true
			testkit.Equal(t, priority(), want, "the work has the nice value")
		})
		if got := priority(); !ran || got != usual {
			t.Errorf("the work ran: %t; the nice value after it is %d, before it was %d", ran, got, usual)
		}
		end()
	}
}
