package wire

import (
	"net"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/internal/testkit"
)

// TestOverloadWindow gives the overload window expected waits at certain times, both in
// milliseconds. The longest allowed wait is 50 ms.
func TestOverloadWindow(t *testing.T) {
	var o overloadWindow
	for _, c := range []struct {
		at, wait int
		refused  bool
		why      string
	}{
		{1000, 0, false, "the queue is empty"},
		{1010, 50, false, "the longest wait"},
		{1020, 400, false, "a stall"},
		{1119, 300, false, "still within the window"},
		{1219, 300, true, "longer than the window"},
		{1220, 50, false, "within the longest wait"},
		{1221, 0, false, "the queue is empty"},
		{1222, 51, true, "the queue was short for a moment only"},
		{1322, 51, true, "again for a moment only"},
		{1423, 51, false, "the queue was short for long enough"},
		{1522, 51, false, "within the new window"},
		{1523, 51, true, "longer than the new window"},
	} {
		now := processStart.Add(time.Duration(c.at) * time.Millisecond)
		refused := o.isTooLong(time.Duration(c.wait)*time.Millisecond, 50*time.Millisecond, now)
		testkit.Equal(t, refused, c.refused, "at %d ms, a wait of %d ms (%s): refused", c.at, c.wait, c.why)
	}
}

// TestGateOrder checks that slots are given in the order of arrival. Waits are measured, and a
// request whose expected wait is too long is refused at once without joining the queue.
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
			t.Errorf("%d waiting and %d running, want %d and 1", g.Waiting(), g.Running(), n)
		}
		for i := range n {
			time.Sleep(time.Millisecond)
			g.Leave()
			testkit.Equal(t, <-turns, i, "slot was given to caller")
		}
		if each := time.Duration(g.each.Load()); each <= 0 || each > 2*time.Millisecond {
			t.Errorf("measured %v per queue position, want about 1ms", each)
		}
		g.overload.last.Store(monotonic(time.Now()))
		g.overload.since.Store(monotonic(time.Now().Add(-overloadFactor * longest)))
		g.waiting.Add(3)
		g.each.Store(int64(longest) / 5)
		if g.Enter(true) || g.Waiting() != 3 {
			t.Errorf("an expected wait of three fifths of the longest was not refused; %d waiting", g.Waiting())
		}
		g.waiting.Add(-3)
		g.Leave()
		if !g.Enter(true) {
			t.Error("a free slot was refused")
		}
		g.Leave()
	})
}

// TestGateWait checks that a wait ends with a slot that is freed in time, or else after the longest
// wait. A gate without a queue refuses at once.
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
			t.Errorf("ended after %v, want a slot after 19ms", time.Since(start))
		}
		start = time.Now()
		if g.Enter(false) || time.Since(start) != 20*time.Millisecond {
			t.Errorf("ended after %v, want a refusal after 20ms", time.Since(start))
		}
		impatient := NewGate(1, -1)
		impatient.Enter(false)
		start = time.Now()
		if impatient.Enter(false) || time.Since(start) != 0 {
			t.Error("a gate without a queue did not refuse at once")
		}
	})
}

// TestGateRests checks that slots rest after work, so that they work in one of so many parts of the
// time, but for what comes at once after a pause; and that no rest is longer than the longest.
func TestGateRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slots, parts, work = 2, 10, 10 * time.Millisecond
		g := NewGate(slots, time.Minute)
		do := func(took time.Duration) (waited time.Duration) {
			start := time.Now()
			if !g.Enter(false) {
				t.Fatal("no slot")
			}
			waited = time.Since(start)
			time.Sleep(took)
			g.LeaveLater(took, parts)
			return waited
		}
		g.rests.last.Store(monotonic(time.Now().Add(-time.Minute)))
		for i := range 100 { // 10 ms that count as 50
			testkit.Equal(t, do(work), 0, "piece %d of a burst waited", i)
		}
		const n = 4 * 50
		start := time.Now()
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 50 {
					do(work)
				}
			})
		}
		all.Wait()
		took, want := time.Since(start), n*work*parts/slots
		if took < want*8/10 || took > want*11/10 {
			t.Errorf("%d pieces of %v took %v, want about %v", n, work, took, want)
		}
		do(time.Minute)
		do(time.Minute)
		if waited := do(0); waited > maxDelay {
			t.Errorf("a rest of %v, want at most %v", waited, maxDelay)
		}
		time.Sleep(time.Minute)
		testkit.Equal(t, g.Running(), 0, "slots are taken after all rests")
	})
}

// testConnections returns Connections with small buffers and no limits.
func testConnections() *Connections {
	return NewConnections(Options{ReadBuffer: 4096, MaxBody: 16, Budget: NewBudget(0)})
}

// TestLeasedBuffer checks that a connection uses the same buffer for successive answers of one
// length, and returns it when it waits for a request, when it is closed, and when the body of its
// answer is elsewhere.
func TestLeasedBuffer(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	defer b.Close()
	c := testConnections().wrap(a)
	var ctx fasthttp.RequestCtx
	ctx.Init2(c, nil, true)
	short := Buffer(&ctx, false)
	testkit.Equal(t, Buffer(&ctx, false), short, "a second answer of the same length got another buffer")
	if long := Buffer(&ctx, true); long == short || long.pool != &longBuffers {
		t.Error("a long answer got a short buffer")
	}
	go b.Write([]byte("x"))
	if _, err := c.Read(make([]byte, 10)); err != nil || c.lease.buffer != nil {
		t.Errorf("it keeps the buffer %v while it reads: %v", c.lease.buffer, err)
	}
	Buffer(&ctx, true)
	NoteState(c, fasthttp.StateIdle)
	if c.lease.buffer == nil {
		t.Error("it has lost its buffer before its answer was written")
	}
	NoteState(c, fasthttp.StateClosed)
	if c.lease.buffer != nil {
		t.Error("it keeps its buffer after it was closed")
	}
	Buffer(&ctx, true)
	ChargeOther(&ctx, 0)
	if c.lease.buffer != nil {
		t.Error("it keeps its buffer although the answer's body is elsewhere")
	}
}

// TestRefusalLimiter checks that a burst of refusals is sent at once, that further ones are evenly
// spaced, and that none is delayed by more than maxDelay.
func TestRefusalLimiter(t *testing.T) {
	var l RefusalLimiter
	// Long after time zero, which the limiter takes as the time of the last refusal.
	start := processStart.Add(time.Minute)
	every := time.Second / time.Duration(refusalsPerCore*runtime.GOMAXPROCS(0))
	free := int(refusalBurst / every)
	for i := range free {
		testkit.Equal(t, l.Delay(start), 0, "refusal %d of %d is delayed by", i, free)
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
	testkit.Equal(t, last, maxDelay, "the longest delay")
	if delay := l.Delay(start.Add(maxDelay + refusalBurst + time.Second)); delay != 0 {
		t.Errorf("after a pause the first refusal is delayed by %v", delay)
	}
}
