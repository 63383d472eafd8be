package api

import (
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// Bounds of work at once, when Options do not say.
const (
	queriesPerCore = 4
	inflightBytes  = 512 << 20

	// DefaultQueueWait keeps all but one in a hundred answers of an overloaded server within three times the time that they take at its usual full load.
	DefaultQueueWait = 50 * time.Millisecond
)

// started is where moments are counted from.
var started = time.Now()

// moment is a time in nanoseconds of a clock that nobody sets.
func moment(t time.Time) int64 { return int64(t.Sub(started)) }

// gate lets a number of queries run at once. Others wait for their turn, in the order in which they came, or are turned away when that would take too
// long: an answer that comes late costs as much as one in time, and the caller has gone.
//
// What is too much waits for a core rather than for a slot, since a query that has one does not rest: the runtime would keep those that come in a queue of
// its own, unseen, and run each to its end. So a long query that has a slot first lets all go that are ready. They are read, find the slots taken, and
// learn here how many were before them.
type gate struct {
	slots   chan struct{}
	wait    time.Duration
	waiting atomic.Int64
	each    atomic.Int64 // nanoseconds by which each that waits makes the next one wait longer, of late
	queue   standing
}

func newGate(queries int, wait time.Duration) *gate {
	return &gate{slots: make(chan struct{}, orInt(queries, queriesPerCore*runtime.GOMAXPROCS(0))), wait: orTime(wait, DefaultQueueWait)}
}

// enter takes a slot, which the caller leaves, or says that there is none in time. Short queries do not let others go: they are done before that.
func (g *gate) enter(long bool) bool {
	if !g.take() {
		return false
	}
	if long && g.wait > 0 {
		runtime.Gosched()
	}
	return true
}

func (g *gate) leave() { <-g.slots }

// take takes a slot, when one comes free while the caller may wait. A queue that stands is kept half as long as that: then few of those who join it wait in
// vain, and those who get answers do not all get them as late as can be.
func (g *gate) take() bool {
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
	if g.queue.isTooLong(time.Duration(ahead*g.each.Load()), g.wait/2, arrived) {
		return false
	}
	t := timers.Get().(*time.Timer)
	t.Reset(g.wait)
	defer func() {
		t.Stop()
		timers.Put(t)
	}()
	select {
	case g.slots <- struct{}{}:
		g.learn(ahead, time.Since(arrived))
		return true
	case <-t.C:
		return false
	}
}

// leastAhead is the shortest queue from which something can be learned of the time that each one in it takes.
const leastAhead = 8

// learn notes how long somebody waited behind so many. One of two notes at once may get lost.
func (g *gate) learn(ahead int64, waited time.Duration) {
	if ahead >= leastAhead {
		each := g.each.Load()
		g.each.Store(each + (int64(waited)/ahead-each)/8)
	}
}

// standing tells a queue that does not get shorter from one that a hiccup of the machine has made, which needs only time.
type standing struct {
	since atomic.Int64 // moment at which waits became too long
	last  atomic.Int64 // at which one was too long last
}

// hiccup is how many times the longest wait a queue may be too long before it counts, and not be before it does no more. In between it may well be short:
// a busy runtime reads what has come to its sockets at once every ten or twenty milliseconds.
const hiccup = 2

// isTooLong notes how long somebody will wait, and says whether that is more than most and has been so often for so long that something must go.
func (s *standing) isTooLong(wait, most time.Duration, now time.Time) bool {
	if wait <= most {
		return false
	}
	at, long := moment(now), int64(hiccup*most)
	if at-s.last.Swap(at) > long {
		s.since.Store(at)
		return false
	}
	return at-s.since.Load() >= long
}

// pace spreads refusals over time: callers who ask again at once, whatever Retry-After says, wait for each refusal, and so cannot make refusing them take
// the cores from those who get answers. Callers who do as they are told are seldom so many that one of them waits.
type pace struct {
	last atomic.Int64 // moment at which the last refusal was due
}

const (
	refusalsPerCore = 2500                   // a second: about a tenth of a core's time
	refusalBurst    = 100 * time.Millisecond // of a pause's refusals may come at once
	longestHold     = time.Second
)

// next is how long the next refusal has to wait.
func (p *pace) next(now time.Time) time.Duration {
	every := int64(time.Second) / int64(refusalsPerCore*runtime.GOMAXPROCS(0))
	at := moment(now)
	for {
		last := p.last.Load()
		due := min(max(last+every, at-int64(refusalBurst)), at+int64(longestHold))
		if p.last.CompareAndSwap(last, due) {
			return max(0, time.Duration(due-at))
		}
	}
}

var timers = sync.Pool{New: func() any {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}}

// flight counts the bytes of answers that are not yet taken by their clients' connections, with what those hold until then. A body that many send counts
// once, and not while it has a place in the cache, which has a bound of its own.
type flight struct {
	bytes  atomic.Int64
	budget int64
}

// newFlight takes a quarter of the memory that the process may use as budget, where that is known and none is given.
func newFlight(budget int64) *flight {
	if budget == 0 {
		budget = inflightBytes
		if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
			budget = limit / 4
		}
	}
	return &flight{budget: budget}
}

// full says that no further body may be made or sent. The bodies in the making when it turns full come on top: at most one a query slot.
func (f *flight) full() bool { return f.bytes.Load() >= f.budget }

// charge counts the memory of an answer with a body of its own until its connection has taken it.
func (f *flight) charge(ctx *fasthttp.RequestCtx, bytes int) {
	if c, ok := ctx.Conn().(*lineConn); ok {
		c.charge(int64(bytes) + c.memory())
	}
}

// chargeOthers is charge for an answer whose body is not made in the connection's own buffer. That may still be there from the answer before, and goes.
func (f *flight) chargeOthers(ctx *fasthttp.RequestCtx, bytes int) {
	if c, ok := ctx.Conn().(*lineConn); ok {
		c.giveBack()
	}
	f.charge(ctx, bytes)
}
