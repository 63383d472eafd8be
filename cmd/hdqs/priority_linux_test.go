package main

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestBesideRequests checks that a step runs with a low priority, and nothing else after it.
func TestBesideRequests(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	priority := func() int {
		value, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // 20 less the nice value
		if err != nil {
			t.Error(err)
		}
		return 20 - value
	}
	usual := priority()
	low := max(usual, lowPriority)
	if runtime.GOMAXPROCS(0) == 1 {
		low = usual
	}
	ran := false
	besideRequests(func() {
		ran = true
		if got := priority(); got != low {
			t.Errorf("the step has the nice value %d, want %d", got, low)
		}
	})
	if got := priority(); !ran || got != usual {
		t.Errorf("the step ran: %t; the nice value after it is %d, before it was %d", ran, got, usual)
	}
}
