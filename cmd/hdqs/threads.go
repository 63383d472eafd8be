package main

import (
	"os"
	"runtime"
	"sync"
)

// swapSteps are the steps of swaps that run now. There may be two: one that was abandoned, and the
// next one.
var swapSteps struct {
	sync.Mutex
	running, threads int // threads is how many the Go runtime used before
}

// addThread lets the Go runtime use one thread more, until remove is called. A step of a swap
// computes for a long time in one goroutine. On one core with one thread, requests would wait for
// it up to 10 ms again and again, since Go looks at the network only when that goroutine pauses.
// With a thread more, the kernel shares the core, and wakes the thread of the requests at once.
func addThread() (remove func()) {
	swapSteps.Lock()
	defer swapSteps.Unlock()
	if swapSteps.running++; swapSteps.running == 1 {
		swapSteps.threads = runtime.GOMAXPROCS(0)
		runtime.GOMAXPROCS(swapSteps.threads + 1)
	}
	return removeThread
}

func removeThread() {
	swapSteps.Lock()
	defer swapSteps.Unlock()
	switch swapSteps.running--; {
	case swapSteps.running > 0:
	case os.Getenv("GOMAXPROCS") == "":
		runtime.SetDefaultGOMAXPROCS() // which follows the limits of the container again
	default:
		runtime.GOMAXPROCS(swapSteps.threads)
	}
}
