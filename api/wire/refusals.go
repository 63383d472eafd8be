package wire

import (
	"runtime"
	"sync/atomic"
	"time"
)

// RefusalLimiter spreads refusals over time: callers who ask again at once, whatever Retry-After
// says, wait for each refusal, and so cannot make refusing them take the cores from those who get
// answers. Callers who respect Retry-After are seldom so many that one of them waits. The zero
// value is ready.
type RefusalLimiter struct {
	last atomic.Int64 // when the last refusal was due
}

const (
	refusalsPerCore = 2500                   // a second: about a tenth of a core's time
	refusalBurst    = 100 * time.Millisecond // of refusals may come at once after a pause
	maxRefusalDelay = time.Second
)

// Delay is how long the next refusal has to wait.
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
