package background

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Turn is the right to compute for long in an ordinary goroutine. There is one for each core, so
// that long work waits blocked: the queue of goroutines that are ready has one of it at most for
// each core, and short requests are not behind the others.
//
// The Go runtime looks at the network when no goroutine is ready, or else every 10 ms. So long work
// that uses all cores stops for a moment every lookEvery, until the runtime has looked and what it
// found has run.
//
// The zero value is ready. A Turn is for one goroutine, which must not wait for anything while it
// has the turn.
type Turn struct {
	core  *core
	calls uint
}

// core is what a turn stands for.
type core struct{ looker looker }

// lookEvery is how long long work may use all cores. A look takes a microsecond, and what long work
// had in the caches of the core. With several cores it can also take a change of threads.
var lookEvery = int64(min(cap(cores), 2)) * int64(500*time.Microsecond)

// pausesPerCheck is how many calls of Pause share a look at the clock.
const pausesPerCheck = 4

var (
	cores   = newCores(runtime.GOMAXPROCS(0))
	longs   = make(chan struct{}, cap(cores)) // long work that pauses
	waiting atomic.Int64                      // for a core
	looked  atomic.Int64                      // at the network, in nanoseconds since start
	start   = time.Now()
)

func newCores(n int) chan *core {
	all := make(chan *core, n)
	for range n {
		all <- new(core)
	}
	return all
}

// BeginLong is Begin for work of a millisecond or more, which calls Pause. It waits for other such
// work, as much of which is made at a time as there are cores: what it uses stays in their caches.
func (t *Turn) BeginLong() {
	longs <- struct{}{}
	t.Begin()
}

// EndLong ends a turn of BeginLong.
func (t *Turn) EndLong() {
	t.End()
	<-longs
}

// Begin waits for a turn, in the order of arrival.
func (t *Turn) Begin() {
	select {
	case t.core = <-cores:
	default:
		waiting.Add(1)
		t.core = <-cores
		waiting.Add(-1)
	}
	if last, due := isLookDue(); due && looked.CompareAndSwap(last, int64(time.Since(start))) {
		t.core.looker.look()
	}
}

// isLookDue reports whether the network was not looked at for long. If a core is free, the runtime
// looks at it all the time.
func isLookDue() (last int64, due bool) {
	last = looked.Load()
	return last, len(cores) == 0 && int64(time.Since(start))-last >= lookEvery
}

// End ends the turn.
func (t *Turn) End() {
	c := t.core
	t.core = nil
	cores <- c
}

// Pause lets other long work have a turn, and short requests run. The work calls it about every 20
// microseconds.
func (t *Turn) Pause() {
	if t.calls++; t.calls%pausesPerCheck != 0 {
		return
	}
	if _, due := isLookDue(); due || waiting.Load() > 0 {
		t.End()
		t.Begin()
	}
}
