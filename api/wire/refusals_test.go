package wire

import (
	"runtime"
	"testing"
	"time"
)

// TestRefusalLimiter checks that a burst of refusals is sent at once, that further ones are evenly
// spaced, and that none is delayed by more than maxDelay.
func TestRefusalLimiter(t *testing.T) {
	var l RefusalLimiter
	// Long after time zero, which the limiter takes as the time of the last refusal.
	start := processStart.Add(time.Minute)
	every := time.Second / time.Duration(refusalsPerCore*runtime.GOMAXPROCS(0))
	free := int(refusalBurst / every)
	for i := range free {
		if delay := l.Delay(start); delay != 0 {
			t.Fatalf("refusal %d of %d is delayed by %v", i, free, delay)
		}
	}
	last := time.Duration(0)
	for range int(maxDelay / every) {
		delay := l.Delay(start)
		if step := delay - last; step < 0 || step > every+time.Microsecond {
			t.Fatalf("a delay of %v after one of %v, want steps of %v", delay, last, every)
		}
		last = delay
	}
	for range 10 {
		last = l.Delay(start)
	}
	if last != maxDelay {
		t.Errorf("the longest delay is %v, want %v", last, maxDelay)
	}
	if delay := l.Delay(start.Add(maxDelay + refusalBurst + time.Second)); delay != 0 {
		t.Errorf("after a pause the first refusal is delayed by %v", delay)
	}
}
