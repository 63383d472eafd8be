package background

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRun checks that work runs with a low priority, and nothing else after it.
func TestRun(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	priority := func() int {
		value, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // 20 less the nice value
		if err != nil {
			t.Error(err)
		}
		return 20 - value
	}
	usual, ran := priority(), false
	Run(func() {
		ran = true
		if got, want := priority(), max(usual, lowPriority); got != want {
			t.Errorf("the work has the nice value %d, want %d", got, want)
		}
	})
	if got := priority(); !ran || got != usual {
		t.Errorf("the work ran: %t; the nice value after it is %d, before it was %d", ran, got, usual)
	}
}
