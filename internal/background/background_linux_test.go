package background

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

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
			if got := priority(); got != want {
				t.Errorf("the work has the nice value %d, want %d", got, want)
			}
		})
		if got := priority(); !ran || got != usual {
			t.Errorf("the work ran: %t; the nice value after it is %d, before it was %d", ran, got, usual)
		}
		end()
	}
}
