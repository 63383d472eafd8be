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
	queueWait      = 50 * time.Millisecond
	waitersPerSlot = 64 // more than that cannot have their turn within queueWait
	inflightBytes  = 512 << 20
)

// gate lets a number of queries run at once. Others wait a little, then are turned away: an answer that comes late costs as much as one in time,
// and the caller has gone.
//
// A query seldom waits for a slot, since those that have one do not rest: what is too much waits for a core. So a long query first lets all go that are
// ready, and looks how long that took; now and then while it is short, since whatever else keeps a core busy goes first too.
type gate struct {
	slots   chan struct{}
	waiting atomic.Int64
	wait    time.Duration
	queue   standing
	shed    atomic.Int64 // those that gave up
}

func newGate(queries int, wait time.Duration) *gate {
	return &gate{slots: make(chan struct{}, orInt(queries, queriesPerCore*runtime.GOMAXPROCS(0))), wait: orTime(wait, queueWait)}
}

// enter takes a slot, which the caller leaves, or gives up. Short queries do not queue for a core: refusing them would cost as much as answering.
func (g *gate) enter(long bool) bool {
	if long && g.wait > 0 && g.queueTooLong() {
		return false
	}
	select {
	case g.slots <- struct{}{}:
		return true
	default:
	}
	defer g.waiting.Add(-1)
	if g.waiting.Add(1) > int64(waitersPerSlot*cap(g.slots)) {
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
		return true
	case <-t.C:
		return false
	}
}

func (g *gate) leave() { <-g.slots }

// queueTooLong lets others go first, when it is time to look, and says whether that took too long.
func (g *gate) queueTooLong() bool {
	arrived := time.Now()
	if !g.queue.isWorthALook(g.wait, arrived) {
		return false
	}
	runtime.Gosched()
	now := time.Now()
	return g.queue.isTooLong(now.Sub(arrived), g.wait, now)
}

// standing tells a queue that does not get shorter from one that a hiccup of the machine has made, which needs only time.
type standing struct {
	since atomic.Int64 // when waits became too long, in nanoseconds of the clock's epoch; 0 while some are short
	quiet atomic.Int64 // when the last wait was short
}

// hiccup is how many times the longest wait a queue may be too long before it counts.
const hiccup = 2

// isShort says whether a wait is far below the longest.
func isShort(waited, most time.Duration) bool { return waited < most/4 }

// isWorthALook says whether the last short wait was long enough ago for the queue to have grown.
func (s *standing) isWorthALook(most time.Duration, now time.Time) bool {
	return !isShort(time.Duration(now.UnixNano()-s.quiet.Load()), most)
}

// isTooLong notes how long somebody waited, and says whether that was more than most and has been for so long that something must go.
func (s *standing) isTooLong(waited, most time.Duration, now time.Time) bool {
	since := s.since.Load()
	switch {
	case isShort(waited, most):
		s.quiet.Store(now.UnixNano())
		if since != 0 {
			s.since.Store(0)
		}
		return false
	case waited <= most:
		return false
	case since == 0:
		s.since.CompareAndSwap(0, now.UnixNano())
		return false
	}
	return now.UnixNano()-since >= int64(hiccup*most)
}

var timers = sync.Pool{New: func() any {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}}

// flight counts the bytes of answers that are made and not yet taken by their clients' connections.
type flight struct {
	bytes  atomic.Int64
	budget int64
	shed   atomic.Int64 // requests that were turned away when it was full
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

// full says that no further body may be made. The bodies in the making when it turns full come on top: at most one a query slot.
func (f *flight) full() bool { return f.bytes.Load() >= f.budget }

// charge counts the memory of an answer's body until its connection has taken it.
func (f *flight) charge(ctx *fasthttp.RequestCtx, bytes int) {
	if c, ok := ctx.Conn().(*lineConn); ok {
		c.charge(int64(bytes))
	}
}
