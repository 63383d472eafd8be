package background

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRun checks that work runs with a low priority on several cores and with the usual one
// on one, also while the Go runtime uses one thread more, and that nothing else gets a low one.
func TestRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	t.Setenv("GOMAXPROCS", "1") // not to be set to that of the machine
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
	for cores, want := range map[int]int{1: usual, 2: max(usual, lowPriority)} {
		for _, set := range []func() func(){func() func() { return func() {} }, More} {
			runtime.GOMAXPROCS(cores)
			end := set()
			ran := false
			Run(func() {
				ran = true
				if got := priority(); got != want {
					t.Errorf("%d cores: the work has the nice value %d, want %d", cores, got, want)
				}
			})
			if got := priority(); !ran || got != usual {
				t.Errorf("the work ran: %t; the nice value after it is %d, before it was %d", ran, got, usual)
			}
			end()
		}
	}
}
