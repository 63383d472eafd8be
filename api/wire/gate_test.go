package wire

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestOverloadWindow gives the window expected waits, in milliseconds, at some times. The longest
// wait is 50.
func TestOverloadWindow(t *testing.T) {
	var o overloadWindow
	for _, c := range []struct {
		at, wait int
		refused  bool
		why      string
	}{
		{1000, 0, false, "nobody waits"},
		{1010, 50, false, "the longest wait"},
		{1020, 400, false, "a stall"},
		{1119, 300, false, "still within the window"},
		{1219, 300, true, "longer than the window"},
		{1220, 50, false, "in time"},
		{1221, 0, false, "nobody waits"},
		{1222, 51, true, "the queue was short for a moment only"},
		{1322, 51, true, "again for a moment only"},
		{1423, 51, false, "the queue was short for long enough"},
		{1522, 51, false, "within the new window"},
		{1523, 51, true, "longer than the new window"},
	} {
		now := processStart.Add(time.Duration(c.at) * time.Millisecond)
		refused := o.isTooLong(time.Duration(c.wait)*time.Millisecond, 50*time.Millisecond, now)
		if refused != c.refused {
			t.Errorf("at %d ms, a wait of %d ms (%s): refused is %v", c.at, c.wait, c.why, refused)
		}
	}
}

// TestGateOrder: slots go to those who wait in the order in which they came. Their waits are
// measured, and a wait that is expected to be too long is refused at once, without a place in the
// queue.
func TestGateOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const longest = time.Minute // so that no wait ends in this test
		g := NewGate(1, longest)
		if !g.Enter(false) {
			t.Fatal("no free slot in a new gate")
		}
		const n = 3 * minAhead
		turns := make(chan int, n)
		for i := range n {
			go func() {
				if g.Enter(i%2 == 0) {
					turns <- i
				}
			}()
			synctest.Wait() // until it is queued
		}
		if g.Waiting() != n || g.Running() != 1 {
			t.Errorf("%d wait and %d run, want %d and 1", g.Waiting(), g.Running(), n)
		}
		for i := range n {
			time.Sleep(time.Millisecond)
			g.Leave()
			if got := <-turns; got != i {
				t.Fatalf("slot %d went to caller %d", i, got)
			}
		}
		if each := time.Duration(g.each.Load()); each <= 0 || each > 2*time.Millisecond {
			t.Errorf("measured %v for each one in the queue, want about 1ms", each)
		}
		g.overload.last.Store(monotonic(time.Now()))
		g.overload.since.Store(monotonic(time.Now().Add(-overloadFactor * longest)))
		g.waiting.Add(3)
		g.each.Store(int64(longest) / 5)
		if g.Enter(true) || g.Waiting() != 3 {
			t.Errorf("expected to wait three fifths of the longest wait and not refused: %d wait", g.Waiting())
		}
		g.waiting.Add(-3)
		g.Leave()
		if !g.Enter(true) {
			t.Error("a free slot was refused")
		}
		g.Leave()
	})
}

// TestGateWait: a wait ends with a slot that comes free in time, or after the longest wait without
// one. A gate without waiting refuses at once.
func TestGateWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1, 20*time.Millisecond)
		g.Enter(false)
		go func() {
			time.Sleep(19 * time.Millisecond)
			g.Leave()
		}()
		start := time.Now()
		if !g.Enter(false) || time.Since(start) != 19*time.Millisecond {
			t.Errorf("no slot after %v", time.Since(start))
		}
		start = time.Now()
		if g.Enter(false) || time.Since(start) != 20*time.Millisecond {
			t.Errorf("not refused after the longest wait but after %v", time.Since(start))
		}
		impatient := NewGate(1, -1)
		impatient.Enter(false)
		start = time.Now()
		if impatient.Enter(false) || time.Since(start) != 0 {
			t.Error("a gate without waiting did not refuse at once")
		}
	})
}
