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

// Start runs work that computes for a long time in a goroutine of its own, and returns a channel
// that is closed when it ends.
//
// The goroutine has a thread of its own with a low priority, so that the kernel prefers the threads
// that answer requests. The thread ends with the goroutine: it could not raise its priority again.
func Start(work func()) (done <-chan struct{}) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // never unlocked, so that the thread ends
		lowerPriority()
		work()
	}()
	return ended
}

// Run runs work as Start does, and returns when it is done.
func Run(work func()) { <-Start(work) }
