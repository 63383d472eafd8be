package list

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/encode"
	"hdqs/api/reply"
	"hdqs/api/wire"
	"hdqs/internal/testkit"
)

var waitFor = testkit.WaitFor

// testKey returns the n-th cache key.
func testKey(n int) bodyKey {
	return bodyKey{
		Tag:    reply.NewEntityTag([32]byte{byte(n), byte(n >> 8), byte(n >> 16), 0, 1, 2}),
		Coding: encode.Gzip,
	}
}

// TestSingleFlight checks that of a thousand concurrent requests for one body, one renders it and
// the others share the result.
func TestSingleFlight(t *testing.T) {
	t.Parallel()
	c := newBodyCache(0, wire.NewBudget(0))
	var made atomic.Int64
	s := &c.shards[(&bodyKey{Tag: testKey(1).Tag}).shard()]
	var wg sync.WaitGroup
	want := []byte("body")
	for range 1000 {
		wg.Go(func() {
			got, m, _ := c.begin(testKey(1))
			if got == nil {
				made.Add(1)
				waitFor(t, "the other 999 requests to wait", func() bool {
					s.Lock()
					defer s.Unlock()
					return m.waiters == 999
				})
				body := append([]byte(nil), want...)
				c.end(m, Finished{Body: body, Rows: 3, Total: 7}, nil)
				clear(body) // the response owns this memory and reuses it
				return
			}
			if !bytes.Equal(got.Body, want) || got.Rows != 3 || got.Total != 7 {
				t.Errorf("got %q, %d of %d rows", got.Body, got.Rows, got.Total)
			}
		})
	}
	wg.Wait()
	testkit.Equal(t, made.Load(), 1, "the body was rendered times")
	testkit.Equal(t, len(s.inFlight), 0, "in-flight entries are left")
}

// TestFailedInFlightEntry checks what waiters get when the body they wait for is not rendered:
// permission to render it themselves, or the renderer's error.
func TestFailedInFlightEntry(t *testing.T) {
	t.Parallel()
	for _, fault := range []error{nil, &reply.Busy{Rule: reply.RuleQueries}} {
		c := newBodyCache(0, wire.NewBudget(0))
		_, m, _ := c.begin(testKey(1))
		alone := make(chan error)
		for range 3 {
			go func() {
				got, own, err := c.begin(testKey(1))
				if got != nil || own != nil {
					err = errors.New("got a body that nobody rendered")
				}
				alone <- err
			}()
		}
		s := &c.shards[m.Key.shard()]
		waitFor(t, "three waiters", func() bool {
			s.Lock()
			defer s.Unlock()
			return m.waiters == 3
		})
		c.end(m, Finished{}, fault)
		for range 3 {
			testkit.Is(t, <-alone, fault, "a waiter got the error")
		}
		if got, m, err := c.begin(testKey(1)); got != nil || m == nil || err != nil {
			t.Error("the next request may not render the body")
		}
	}
}

// TestCachedOnSecondRequest checks that a body is cached when it is requested for the second time,
// whatever was requested in between.
func TestCachedOnSecondRequest(t *testing.T) {
	t.Parallel()
	c := newBodyCache(0, wire.NewBudget(0))
	ask := func(n int) bool {
		got, m, _ := c.begin(testKey(n))
		c.end(m, Finished{Body: fmt.Append(nil, n)}, nil)
		return got != nil
	}
	for turn, want := range []bool{false, false, true, true} {
		for n := range 20 {
			testkit.Equal(t, ask(n), want, "turn %d, body %d: cached", turn, n)
		}
	}
	without := newBodyCache(-1, wire.NewBudget(0))
	if got, m, err := without.begin(testKey(1)); got != nil || m != nil || err != nil {
		t.Error("a disabled cache returned an rec")
	}
	without.end(nil, Finished{}, nil)
}

// TestCacheLimit checks under random load that memory stays below the limit, that frequently used
// bodies stay, and that no body longer than a quarter of a shard is cached.
func TestCacheLimit(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	c := newBodyCache(limit, wire.NewBudget(0))
	r := rand.New(rand.NewPCG(1, 2))
	frequentHits := 0
	rounds := 40_000
	for i := range rounds {
		n := r.IntN(10)
		if i%4 > 0 {
			n = r.IntN(20_000)
		}
		got, m, _ := c.begin(testKey(n))
		if n < 10 && got != nil {
			frequentHits++
		}
		if got != nil && (len(got.Body) < 8 || got.Rows != n || len(got.Body) > c.maxBody) {
			t.Fatalf("body %d: %d bytes, %d rows", n, len(got.Body), got.Rows)
		}
		c.end(m, Finished{Body: make([]byte, 8+n%100*200), Rows: n}, nil)
	}
	sum := 0
	for i := range c.shards {
		s := &c.shards[i]
		if s.kept.Bytes() > s.kept.Limit() {
			t.Errorf("shard %d: %d bytes, limit %d", i, s.kept.Bytes(), s.kept.Limit())
		}
		sum += int(s.kept.Bytes())
	}
	if sum < limit/2 || frequentHits < rounds/4*9/10 {
		t.Errorf("%d bytes are cached; %d of %d requests for the ten most requested bodies were hits", sum,
			frequentHits, rounds/4)
	}
}

// endlessConn is a connection without a peer. Reading it yields an endless request.
type endlessConn struct{ net.Conn }

func (endlessConn) Close() error                    { return nil }
func (endlessConn) Read(p []byte) (int, error)      { return copy(p, "x"), nil }
func (endlessConn) SetReadDeadline(time.Time) error { return nil }

// sender is a connection that sends bodies.
type sender struct{ net.Conn }

// newSender returns a sender without a peer.
func newSender(n *wire.Connections) sender { return sender{n.Wrap(endlessConn{})} }

// answer sends a body like the answer to a request.
func (r sender) answer(b *cachedBody) {
	wire.Send(r.ctx(), &b.Shared)
}

// ctx returns a request of the connection.
func (r sender) ctx() *fasthttp.RequestCtx {
	ctx := new(fasthttp.RequestCtx)
	ctx.Init2(r.Conn, nil, true)
	return ctx
}

// finish ends the sending of an answer: the connection reads the next request.
func (r sender) finish() {
	if _, err := r.Read(make([]byte, 8)); err != nil {
		panic(err)
	}
	wire.NoteState(r.Conn, fasthttp.StateIdle)
}

// testReadBuffer is the read buffer of connections.
const testReadBuffer = 64 << 10

// testConnections returns connections that count their bytes in a budget.
func testConnections(budget *wire.Budget) *wire.Connections {
	return wire.NewConnections(wire.Options{ReadBuffer: testReadBuffer, MaxBody: 1 << 10, Budget: budget})
}

// answerMemory returns the memory that one answer occupies besides its body, which is what a
// connection counts for an empty body.
func answerMemory() int {
	budget := wire.NewBudget(0)
	wire.Charge(newSender(testConnections(budget)).ctx(), 0)
	return int(budget.Bytes())
}

// TestEvictedWhileSent checks that an evicted body counts once until the last connection has sent
// it. A body that was rendered for waiters and is too long to be cached counts like that from the
// start.
func TestEvictedWhileSent(t *testing.T) {
	t.Parallel()
	budget := wire.NewBudget(0)
	all, each := testConnections(budget), answerMemory()
	want := func(what string, bytes int) {
		t.Helper()
		testkit.Equal(t, budget.Bytes(), int64(bytes), "%s: bytes in flight", what)
	}
	c := newBodyCache(bodyShards*100_000, budget)
	add := func(n, length int) {
		for range 2 { // it is cached at the second request
			if _, m, _ := c.begin(testKey(n)); m != nil {
				c.end(m, Finished{Body: make([]byte, length)}, nil)
			}
		}
	}
	add(1, 20_000)
	first, second := newSender(all), newSender(all)
	for _, r := range []sender{first, second, second} { // the second connection sends it in two successive answers
		known, _, _ := c.begin(testKey(1))
		r.answer(known)
	}
	want("in the cache", 2*each)
	last := 1
	for budget.Bytes() == int64(2*each) { // not evicted yet
		last++
		add(last, 20_000)
	}
	want("evicted", 2*each+20_000+cachedOverhead)
	first.finish()
	want("one connection has sent it", each+20_000+cachedOverhead)
	known, _, _ := c.begin(testKey(last))
	second.answer(known)
	want("the other connection sends another body", each)
	for range 2 {
		_ = second.Close()
	}
	want("both connections are closed", 0)

	_, m, _ := c.begin(testKey(-1))
	joined := make(chan *cachedBody)
	for range 2 {
		go func() {
			b, _, _ := c.begin(testKey(-1))
			joined <- b
		}()
	}
	waitFor(t, "two waiters", func() bool { return c.Counts().Joins == 2 })
	c.end(m, Finished{Body: make([]byte, 90_000)}, nil)
	want("a body too long to be cached", 90_000+cachedOverhead)
	first.answer(<-joined) // after a part of its next request was read
	want("one waiter sends it", 90_000+cachedOverhead+each+testReadBuffer)
	first.finish()
	want("the other waiter has yet to send it", 90_000+cachedOverhead)
	wire.Send(new(fasthttp.RequestCtx), &(<-joined).Shared)
	want("it was sent without a connection", 0)
}

// TestSharedBodiesProperty runs connections that send bodies while the cache evicts them, render
// some themselves, finish their answers, are closed from two goroutines, and start again. The bytes
// in flight must never be negative, and zero at the end. A body that is sent keeps its bytes,
// although the memory of others is used again.
func TestSharedBodiesProperty(t *testing.T) {
	t.Parallel()
	const (
		workers = 8
		turns   = 3000
		bodies  = 300
	)
	budget := wire.NewBudget(0)
	c := newBodyCache(1<<20, budget) // room for a tenth of all bodies
	all := testConnections(budget)
	bodyOf := func(n int) []byte { return bytes.Repeat([]byte{byte(n), byte(n >> 8)}, 4+n*50) }
	var running, closing sync.WaitGroup
	for worker := range workers {
		running.Go(func() {
			r := rand.New(rand.NewPCG(uint64(worker), 11))
			conn := newSender(all)
			for range turns {
				n := r.IntN(r.IntN(bodies) + 1)
				known, m, _ := c.begin(testKey(n))
				switch {
				case known == nil && r.IntN(10) == 0:
					c.end(m, Finished{}, nil)
				case known == nil && m != nil:
					wire.Charge(conn.ctx(), 100)
					c.end(m, Finished{Body: bodyOf(n), Rows: n}, nil)
				case known != nil:
					conn.answer(known)
					runtime.Gosched() // others take its place in the cache
					if known.Rows != n || !bytes.Equal(known.Body, bodyOf(n)) {
						t.Errorf("body %d: %d rows, %d bytes, or other bytes", n, known.Rows, len(known.Body))
					}
				}
				switch r.IntN(6) {
				case 0: // the next request is pipelined
				case 1:
					old := conn
					closing.Go(func() { _ = old.Close() })
					_ = old.Close()
					conn = newSender(all)
				default:
					conn.finish()
				}
				testkit.AtLeast(t, budget.Bytes(), 0, "bytes are in flight")
			}
			_ = conn.Close()
		})
	}
	running.Wait()
	closing.Wait()
	testkit.Equal(t, budget.Bytes(), 0, "at the end bytes are in flight")
	found := c.Counts()
	if found.Hits == 0 || found.Misses < bodies {
		t.Errorf("%d hits, %d misses", found.Hits, found.Misses)
	}
	t.Logf("%+v", found)
	for n := range bodies {
		key := testKey(n)
		if b, ok := c.shards[key.shard()].kept.Get(key); ok && b.Readers() != 0 {
			t.Errorf("body %d has %d readers", n, b.Readers())
		}
	}
}
