package background

import (
	"os"
	"runtime/debug"
	"slices"
	"sync"
)

// steps has the GOGC of what runs now: the start, or up to two steps of swaps, an abandoned one and
// the next. The largest is in effect.
var steps struct {
	sync.Mutex
	running []int
}

// garbagePercent is GOGC. Requests allocate little compared with what is kept (stored blocks,
// fragments, bodies), so the default of 100 would mostly double the memory without need.
const garbagePercent = 50

// GOGC during a start, when the heap is small, and during what follows it, or a step of a swap.
const (
	GarbageInStart = 1000
	GarbageInSwap  = 200
)

// SetGarbagePercent sets GOGC unless the environment does.
func SetGarbagePercent() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
}

// Beside runs a step of a swap in parallel with requests: it computes for a long time in one
// goroutine.
func Beside(step func()) {
	defer BeginStep()()
	Run(step)
}

// BeginStep sets up the Go runtime for a step of a swap, until end is called.
//
// It lets the runtime use one thread more. And it lets garbage accumulate until the end of the
// step. A swap makes about as much garbage as the heap is large. With garbagePercent, that is four
// collections, which use all cores while they run: requests then wait for a core until the kernel
// takes it from a collector, which is up to 4 ms.
func BeginStep() (end func()) {
	endMore, collect := More(), CollectLess(GarbageInSwap)
	return func() {
		endMore()
		collect()
	}
}

// CollectLess raises GOGC until collect is called; further calls do nothing. A start makes as much
// garbage as a swap. With garbagePercent it would collect 17 times, since the heap is small at
// first, which takes a quarter of the CPU until /readyz says yes.
func CollectLess(garbage int) (collect func()) {
	changeSteps(func() { steps.running = append(steps.running, garbage) })
	return sync.OnceFunc(func() {
		changeSteps(func() {
			at := slices.Index(steps.running, garbage)
			steps.running = slices.Delete(steps.running, at, at+1)
		})
	})
}

// changeSteps sets GOGC after a change of steps.
func changeSteps(change func()) {
	steps.Lock()
	defer steps.Unlock()
	if change(); len(steps.running) == 0 {
		SetGarbagePercent()
	} else if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(slices.Max(steps.running))
	}
}
