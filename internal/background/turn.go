package background

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Turn is the right to compute for long in an ordinary goroutine. There is one turn for each core.
// Work without a turn blocks, so it is not in the runtime's queue of ready goroutines, and short
// requests do not queue after it.
//
// The Go runtime polls the network when no goroutine is ready, or else every 10 ms. So long work
// that uses all cores stops every lookEvery until the runtime has polled, and has run the
// goroutines that the poll made ready.
//
// The zero value is ready. A Turn is for one goroutine, which must not wait for anything while it
// has the turn.
type Turn struct {
	core  *core
	calls uint
}

// core is a free core: who takes it from cores has a turn.
type core struct{ looker looker }

// lookEvery is how long long work may use all cores before it lets the runtime poll. A poll takes a
// microsecond, and what runs then evicts the data of the long work from the caches of the core. On
// one core, polling every 250 microseconds instead of 500 cost no more CPU, and halved the 90th
// percentile of what short requests wait for. With several cores a poll can also cost a change of
// threads, and waits are shorter.
var lookEvery = func() int64 {
	if cap(cores) == 1 {
		return int64(250 * time.Microsecond)
	}
	return int64(time.Millisecond)
}()

// pausesPerCheck is how many calls of Pause share one reading of the clock.
const pausesPerCheck = 4

var (
	cores   = newCores(runtime.GOMAXPROCS(0))
	longs   = make(chan struct{}, cap(cores)) // long work that pauses
	waiting atomic.Int64                      // for a core
	looked  atomic.Int64                      // when the network was polled last, in nanoseconds since start
	start   = time.Now()
)

// Turns returns how many turns there are. GOMAXPROCS can be one more while there is More.
func Turns() int { return cap(cores) }

func newCores(n int) chan *core {
	all := make(chan *core, n)
	for range n {
		all <- new(core)
	}
	return all
}

// BeginLong is Begin for work of a millisecond or more that calls Pause. At most one such piece of
// work for each core is in progress, also while it pauses, so that its data stays in the caches.
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

// isLookDue reports whether the network was not polled for long. If a core is free, the runtime
// polls all the time.
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
