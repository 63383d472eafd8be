package background

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

// TestLow checks that work runs with a low priority and one thread more, and never more of it than
// half of the cores can do.
func TestLow(t *testing.T) {
	var running, ran atomic.Int64
	want := max(niceValue(t), lowPriority)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			Low(func() {
				if n := running.Add(1); n > int64(max(1, Turns()/2)) {
					t.Errorf("%d pieces of work at once, of %d cores", n, Turns())
				}
				runtime.Gosched() // others could begin
				if got, threads := niceValue(t), runtime.GOMAXPROCS(0); got != want || threads <= Turns() {
					t.Errorf("the work has the nice value %d and %d threads, want %d and more than %d", got, threads,
						want, Turns())
				}
				running.Add(-1)
				ran.Add(1)
			})
		})
	}
	all.Wait()
	if ran.Load() != 20 {
		t.Errorf("%d pieces of work were done, want 20", ran.Load())
	}
	for isMore := true; isMore; time.Sleep(time.Millisecond) { // which other tests would see
		more.Lock()
		isMore = more.running > 0
		more.Unlock()
	}
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
