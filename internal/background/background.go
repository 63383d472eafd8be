// Package background runs long work beside short requests.
package background

import (
	"os"
	"runtime"
	"sync"
)

// more is the work that runs now, and how many threads the Go runtime used before.
var more struct {
	sync.Mutex
	running, before int
}

// More lets the Go runtime use one thread more until end is called. Without it, while each thread
// computes for long, Go looks at the network only every 10 ms. With it, the kernel shares the
// cores, and wakes the thread of the requests at once. However much work there is, it is one
// thread.
func More() (end func()) {
	more.Lock()
	defer more.Unlock()
	if more.running++; more.running == 1 {
		more.before = runtime.GOMAXPROCS(0)
		runtime.GOMAXPROCS(more.before + 1)
	}
	return endMore
}

func endMore() {
	more.Lock()
	defer more.Unlock()
	if more.running--; more.running > 0 {
		return
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.SetDefaultGOMAXPROCS() // which follows the limits of the container again
	} else {
		runtime.GOMAXPROCS(more.before)
	}
}

// cores is how many threads the Go runtime uses without More.
func cores() int {
	more.Lock()
	defer more.Unlock()
	if more.running > 0 {
		return more.before
	}
	return runtime.GOMAXPROCS(0)
}

// Start runs work that computes for a long time in a goroutine of its own, and returns a channel
// that is closed when it ends.
//
// With several cores, the goroutine has a thread of its own with a low priority, so that the kernel
// prefers the threads that answer requests. The thread ends with the goroutine: it could not raise
// its priority again. With one core that is worse than without: in swaps of 3 of 25 tables the p99
// of requests was 11 ms, since the work then comes too late to what others wait for.
func Start(work func()) (done <-chan struct{}) {
	ended, several := make(chan struct{}), cores() > 1
	go func() {
		defer close(ended)
		if several {
			runtime.LockOSThread() // never unlocked, so that the thread ends
			lowerPriority()
		}
		work()
	}()
	return ended
}

// Run runs work as Start does, and returns when it is done.
func Run(work func()) {
	if cores() == 1 {
		work()
	} else {
		<-Start(work)
	}
}
