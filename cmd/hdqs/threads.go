package main

import (
	"os"
	"runtime/debug"
	"sync"

	"hdqs/internal/background"
)

// steps counts what runs now: the start, or up to two steps of swaps, an abandoned one and the
// next.
var steps struct {
	sync.Mutex
	running int
}

// GOGC during a start, when the heap is small, and during a step of a swap.
const (
	garbageInStart = 400
	garbageInSwap  = 200
)

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
	endMore, collect := background.More(), collectLess(garbageInSwap)
	return func() {
		endMore()
		collect()
	}
}

// collectLess raises GOGC until collect is called; further calls do nothing. A start makes as much
// garbage as a swap. With garbagePercent it would collect 17 times, since the heap is small at
// first, which takes a quarter of the CPU until /readyz says yes.
func collectLess(garbage int) (collect func()) {
	steps.Lock()
	defer steps.Unlock()
	if steps.running++; steps.running == 1 && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	return sync.OnceFunc(func() {
		steps.Lock()
		defer steps.Unlock()
		if steps.running--; steps.running == 0 {
			setGarbagePercent()
		}
	})
}
