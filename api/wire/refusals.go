package wire

import (
	"runtime"
	"sync/atomic"
	"time"
)

// RefusalLimiter spreads refusals over time. Callers who repeat a request at once, whatever
// Retry-After says, wait for each refusal, so refusing them cannot take the cores from callers who
// get answers. Callers who respect Retry-After are seldom numerous enough to wait. The zero value
// is ready.
type RefusalLimiter struct {
	last atomic.Int64 // when the last refusal was due
}

const (
	refusalsPerCore = 2500                   // per second: about a tenth of a core's time
	refusalBurst    = 100 * time.Millisecond // of refusals may be sent at once after a pause
	maxRefusalDelay = time.Second
)

// Delay returns how long the next refusal must wait.
func (l *RefusalLimiter) Delay(now time.Time) time.Duration {
	every := int64(time.Second) / int64(refusalsPerCore*runtime.GOMAXPROCS(0))
	at := monotonic(now)
	for {
		last := l.last.Load()
		due := min(max(last+every, at-int64(refusalBurst)), at+int64(maxRefusalDelay))
		if l.last.CompareAndSwap(last, due) {
			return max(0, time.Duration(due-at))
		}
	}
}
