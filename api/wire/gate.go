package wire

import (
	"cmp"
	"runtime"
	"sync/atomic"
	"time"
)

// DefaultWait keeps all but one in a hundred answers of an overloaded server within three times the
// time that they take at its usual full load.
const DefaultWait = 50 * time.Millisecond

// slotsPerCore is the number of slots when the caller does not say.
const slotsPerCore = 4

// Gate is a concurrency limit with a bounded queue. Work waits for a slot in the order in which it
// came, or is refused when the wait would be too long: an answer that comes late costs as much as
// one in time, and its caller has gone. Under sustained overload the queue limit is halved.
//
// Beyond the limit, work mostly waits for a core rather than for a slot, since a query with a slot
// does not block. The runtime would keep the rest in a queue of its own, unseen, and run each to
// its end. So a long query with a slot first yields to all goroutines that are ready. They find the
// slots taken, and learn here how many are before them.
type Gate struct {
	slots    chan struct{}
	wait     time.Duration
	waiting  atomic.Int64
	each     atomic.Int64 // nanoseconds that each one waiting adds to the wait of the next, smoothed
	overload overloadWindow
}

// NewGate makes a gate. Zero slots are 4 for each core. wait is the longest wait for a slot: zero
// is DefaultWait, negative lets nobody wait.
func NewGate(slots int, wait time.Duration) *Gate {
	return &Gate{
		slots: make(chan struct{}, cmp.Or(slots, slotsPerCore*runtime.GOMAXPROCS(0))), wait: cmp.Or(wait, DefaultWait),
	}
}

// Enter takes a slot, which the caller gives back with Leave. It reports false when there is none
// in time. Short work does not yield: it is done before that would help.
func (g *Gate) Enter(long bool) bool {
	if !g.take() {
		return false
	}
	if long && g.wait > 0 {
		runtime.Gosched()
	}
	return true
}

// Leave gives a slot back.
func (g *Gate) Leave() { <-g.slots }

// Running is how many slots are taken.
func (g *Gate) Running() int { return len(g.slots) }

// Waiting is how many wait for a slot.
func (g *Gate) Waiting() int64 { return g.waiting.Load() }

// take takes a slot, waiting if needed. Under sustained overload the queue is kept half as long as
// the longest wait: then few of those who join it wait in vain, and good answers are not all as
// late as can be.
func (g *Gate) take() bool {
	select {
	case g.slots <- struct{}{}:
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
		g.learn(ahead, time.Since(arrived))
		return true
	case <-t.C:
		return false
	}
}

// minAhead is the shortest queue whose wait is measured.
const minAhead = 8

// learn notes how long somebody waited after so many others. One of two concurrent notes may get
// lost.
func (g *Gate) learn(ahead int64, waited time.Duration) {
	if ahead >= minAhead {
		each := g.each.Load()
		g.each.Store(each + (int64(waited)/ahead-each)/8)
	}
}

// overloadWindow tells a queue that does not get shorter from one that a short stall of the machine
// has made, which only needs time. A queue counts as overloaded only after it has exceeded maxWait
// for overloadFactor times maxWait without a break of that length. In between it may well be short:
// a busy runtime reads what has come to its sockets in bursts, every ten or twenty milliseconds.
type overloadWindow struct {
	since atomic.Int64 // when waits became too long
	last  atomic.Int64 // when a wait was too long last
}

const overloadFactor = 2

// isTooLong notes how long somebody will wait, and reports whether that exceeds maxWait and has
// done so for long enough to refuse.
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
