package wire

import (
	"cmp"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// DefaultWait keeps all but one in a hundred answers of an overloaded server within three times the
// time that they take at its usual full load.
const DefaultWait = 50 * time.Millisecond

const slotsPerCore = 4

// Gate is a concurrency limit with a bounded queue. Requests wait for a slot in the order of
// arrival, or are refused if the wait would be too long: a late answer costs as much as one in
// time, and its caller may be gone. Under sustained overload the queue limit is halved.
//
// Under load, requests mostly wait for a core rather than for a slot, since a query with a slot
// does not block. They would wait in the run queue of the Go runtime, which cannot be measured
// here, and each would then run to its end. So a long query yields once it has a slot. All
// goroutines that are ready run first, find the slots taken, and join the queue of the gate.
type Gate struct {
	slots    chan struct{}
	wait     time.Duration
	waiting  atomic.Int64
	each     atomic.Int64 // nanoseconds of wait for each request ahead in the queue, smoothed
	overload overloadWindow
	rests    Rate

	// Waits, if set, gets how many seconds each request that got a slot has waited for it.
	Waits prometheus.Observer
}

// NewGate returns a gate. Zero slots are 4 for each core. wait is the longest wait for a slot: zero
// is DefaultWait, and with a negative wait no request waits.
func NewGate(slots int, wait time.Duration) *Gate {
	return &Gate{
		slots: make(chan struct{}, cmp.Or(slots, slotsPerCore*runtime.GOMAXPROCS(0))), wait: cmp.Or(wait, DefaultWait),
	}
}

// Enter takes a slot, which the caller returns with Leave. It reports false if no slot becomes free
// in time. Short queries do not yield: they are done before it would help.
func (g *Gate) Enter(long bool) bool {
	if !g.take() {
		return false
	}
	if long && g.wait > 0 {
		runtime.Gosched()
	}
	return true
}

// Leave returns a slot.
func (g *Gate) Leave() { <-g.slots }

// restBurst is how much time of work and rests passes without a rest after a pause.
const restBurst = 5 * time.Second

// LeaveLater returns a slot after work that took some time. Before that the slot rests, so that all
// of them together work in one part of the time, of so many parts. What comes at once after a pause
// has no rests.
func (g *Gate) LeaveLater(took time.Duration, parts int) {
	if rest := g.rests.Delay(time.Now(), took*time.Duration(parts)/time.Duration(cap(g.slots)), restBurst); rest > 0 {
		time.AfterFunc(rest, g.Leave)
	} else {
		g.Leave()
	}
}

// Running returns how many slots are taken.
func (g *Gate) Running() int { return len(g.slots) }

// Waiting returns how many requests wait for a slot.
func (g *Gate) Waiting() int64 { return g.waiting.Load() }

// take takes a slot, waiting if needed. Under sustained overload, requests that would wait for more
// than half of the longest wait are refused: then few of those that join the queue wait in vain,
// and good answers are not all as late as possible.
func (g *Gate) take() bool {
	select {
	case g.slots <- struct{}{}:
		g.waited(0)
		return true
	default:
	}
	if g.wait <= 0 {
		return false
	}
	arrived := time.Now()
	ahead := g.waiting.Add(1) - 1
	defer g.waiting.Add(-1)
	if g.overload.isTooLong(time.Duration(ahead*g.each.Load()), g.wait/2, arrived) {
		return false
	}
	t := time.NewTimer(g.wait)
	defer t.Stop()
	select {
	case g.slots <- struct{}{}:
		waited := time.Since(arrived)
		g.waited(waited)
		g.learn(ahead, waited)
		return true
	case <-t.C:
		return false
	}
}

func (g *Gate) waited(d time.Duration) {
	if g.Waits != nil {
		g.Waits.Observe(d.Seconds())
	}
}

// minAhead is the shortest queue whose wait is measured.
const minAhead = 8

// learn records how long a request waited behind so many others. If two calls are concurrent, one
// record may be lost.
func (g *Gate) learn(ahead int64, waited time.Duration) {
	if ahead >= minAhead {
		each := g.each.Load()
		g.each.Store(each + (int64(waited)/ahead-each)/8)
	}
}

// overloadWindow distinguishes sustained overload from the queue that a short stall of the machine
// leaves, which only needs time. A queue counts as overloaded only after it has exceeded maxWait
// for overloadFactor times maxWait without a break of that length. Shorter breaks are normal: a
// busy runtime reads from its sockets in bursts, every ten or twenty milliseconds.
type overloadWindow struct {
	since atomic.Int64 // when waits became too long
	last  atomic.Int64 // when a wait was last too long
}

const overloadFactor = 2

// isTooLong records an expected wait, and reports whether it exceeds maxWait and waits have done so
// for long enough to refuse.
func (o *overloadWindow) isTooLong(wait, maxWait time.Duration, now time.Time) bool {
	if wait <= maxWait {
		return false
	}
	at, window := monotonic(now), int64(overloadFactor*maxWait)
	if at-o.last.Swap(at) > window {
		o.since.Store(at)
		return false
	}
	return at-o.since.Load() >= window
}
