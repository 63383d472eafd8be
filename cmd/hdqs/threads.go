package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"hdqs/internal/background"
)

// swapSteps are the steps of swaps that run now. There may be two: one that was abandoned, and the
// next one.
var swapSteps struct {
	sync.Mutex
	running, threads, garbage int // threads is how many the Go runtime used before, garbage is GOGC then
}

// garbageInSwap is GOGC during a step of a swap.
const garbageInSwap = 200

// besideRequests runs a step of a swap, which computes for a long time in one goroutine: with
// several cores with a low priority. With one core, the p99 of requests in swaps of 3 of 25 tables
// was 11 ms with it.
func besideRequests(step func()) {
	several := runtime.GOMAXPROCS(0) > 1
	defer beginStep()()
	if several {
		background.Run(step)
	} else {
		step()
	}
}

// beginStep sets up the Go runtime for a step of a swap, until end is called.
//
// It lets the runtime use one thread more. On one core with one thread, requests would wait for the
// step up to 10 ms again and again, since Go looks at the network only when that goroutine pauses.
// With a thread more, the kernel shares the core, and wakes the thread of the requests at once.
//
// And it lets garbage accumulate until the end of the step. A swap makes about as much garbage as
// the heap is large. With garbagePercent, that is four collections, which use all cores while they
// run: requests then wait for a core until the kernel takes it from a collector, which is up to 4
// ms.
func beginStep() (end func()) {
	swapSteps.Lock()
	defer swapSteps.Unlock()
	if swapSteps.running++; swapSteps.running == 1 {
		swapSteps.threads = runtime.GOMAXPROCS(0)
		runtime.GOMAXPROCS(swapSteps.threads + 1)
		if os.Getenv("GOGC") == "" {
			swapSteps.garbage = debug.SetGCPercent(garbageInSwap)
		}
	}
	return endStep
}

func endStep() {
	swapSteps.Lock()
	defer swapSteps.Unlock()
	if swapSteps.running--; swapSteps.running > 0 {
		return
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.SetDefaultGOMAXPROCS() // which follows the limits of the container again
	} else {
		runtime.GOMAXPROCS(swapSteps.threads)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(swapSteps.garbage)
	}
}
