package main

import (
	"os"
	"runtime/debug"
	"sync"

	"hdqs/internal/background"
)

// swapSteps are the steps of swaps that run now. There may be two: one that was abandoned, and the
// next one.
var swapSteps struct {
	sync.Mutex
	running, garbage int // garbage is GOGC before them
}

// garbageInSwap is GOGC during a step of a swap.
const garbageInSwap = 200

// besideRequests runs a step of a swap, which computes for a long time in one goroutine.
func besideRequests(step func()) {
	defer beginStep()()
	background.Run(step)
}

// beginStep sets up the Go runtime for a step of a swap, until end is called.
//
// It lets the runtime use one thread more. And it lets garbage accumulate until the end of the
// step. A swap makes about as much garbage as the heap is large. With garbagePercent, that is four
// collections, which use all cores while they run: requests then wait for a core until the kernel
// takes it from a collector, which is up to 4 ms.
func beginStep() (end func()) {
	swapSteps.Lock()
	defer swapSteps.Unlock()
	if swapSteps.running++; swapSteps.running == 1 && os.Getenv("GOGC") == "" {
		swapSteps.garbage = debug.SetGCPercent(garbageInSwap)
	}
	endMore := background.More()
	return func() {
		endMore()
		swapSteps.Lock()
		defer swapSteps.Unlock()
		if swapSteps.running--; swapSteps.running == 0 && os.Getenv("GOGC") == "" {
			debug.SetGCPercent(swapSteps.garbage)
		}
	}
}
