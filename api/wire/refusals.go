package wire

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Rate spreads work over time. The zero value is ready.
type Rate struct {
	last atomic.Int64 // when the last piece of work was due
}

// maxDelay is the longest delay of a piece of work.
const maxDelay = time.Second

// Delay returns how long after now a piece of work is due that has a time of its own, as has each
// before it. After a pause, pieces with a time of burst in all are due at once.
func (r *Rate) Delay(now time.Time, each, burst time.Duration) time.Duration {
	at := monotonic(now)
	for {
		last := r.last.Load()
		due := min(max(last+int64(each), at-int64(burst)), at+int64(maxDelay))
		if r.last.CompareAndSwap(last, due) {
			return max(0, time.Duration(due-at))
		}
	}
}

// RefusalLimiter spreads refusals over time. Callers who repeat a request at once, whatever
// Retry-After says, wait for each refusal, so refusing them cannot take the cores from callers who
// get answers. Callers who respect Retry-After are seldom numerous enough to wait. The zero value
// is ready.
type RefusalLimiter struct{ rate Rate }

const (
	refusalsPerCore = 2500                   // per second: about a tenth of a core's time
	refusalBurst    = 100 * time.Millisecond // of refusals may be sent at once after a pause
)

// Delay returns how long the next refusal must wait.
func (l *RefusalLimiter) Delay(now time.Time) time.Duration {
	return l.rate.Delay(now, time.Second/time.Duration(refusalsPerCore*runtime.GOMAXPROCS(0)), refusalBurst)
}
