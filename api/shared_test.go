package api

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// slowClient asks for a page a few times at once and reads nothing.
func slowClient(t *testing.T, address, target string, times int) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(2 << 10); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, strings.Repeat("GET "+target+" HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n", times)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestSharedBytesInFlight: clients that do not read a page that is kept count too, with what each of them makes the server hold, and when they are too
// many, others are turned away. When they have gone nothing is in flight.
func TestSharedBytesInFlight(t *testing.T) {
	s := testServer(t, Options{InflightBytes: 1 << 20, WriteTimeout: time.Minute, QueueWait: 10 * time.Second}, []*testTable{numberedLocations(20_000, nil)})
	address := listenFor(t, func(l net.Listener) error { return s.Serve(slimListener{l, 4 << 10}) })
	target := "/api/v2/metadata/location?app_identifier=" + goodIdentifier
	gzip := []HeaderField{{"Accept-Encoding", "gzip"}}
	var page Answer
	for range 3 {
		page = ask(t, address, "GET", target, gzip)
	}
	if found := s.bodies.counts(); page.Status != 200 || found.hits != 1 {
		t.Fatalf("%d, %d hits", page.Status, found.hits)
	}
	waitFor(t, "the answers that were read", func() bool { return s.flight.bytes.Load() == 0 })
	turnedAway := func() int64 { return s.shedBy(ruleBytes) }
	var slow []net.Conn
	for turnedAway() == 0 && len(slow) < 100 {
		before := s.bodies.counts().hits
		slow = append(slow, slowClient(t, address, target, 50))
		waitFor(t, "its first answer", func() bool { return s.bodies.counts().hits > before || turnedAway() > 0 })
	}
	if turnedAway() == 0 {
		t.Fatalf("%d clients do not read %d bytes each; %d bytes are in flight, and nobody is turned away", len(slow), len(page.Body), s.flight.bytes.Load())
	}
	if got := ask(t, address, "GET", target, gzip); got.Status != 503 || !bytes.Contains(got.Body, []byte(ruleBytes)) {
		t.Errorf("another client: %d %.100s", got.Status, got.Body)
	}
	for method, status := range map[string]int{"HEAD": 200, "OPTIONS": 204} {
		if got := ask(t, address, method, target, gzip); got.Status != status {
			t.Errorf("%s: %d", method, got.Status)
		}
	}
	for _, conn := range slow {
		conn.Close()
	}
	waitFor(t, "connections that ended", func() bool { return s.flight.bytes.Load() == 0 })
	if got := ask(t, address, "GET", target, gzip); got.Status != 200 || !bytes.Equal(got.Body, page.Body) {
		t.Errorf("afterwards: %d, %d bytes", got.Status, len(got.Body))
	}
}

// shedBy is how many were turned away by a rule.
func (s *Server) shedBy(rule string) int64 {
	for i := range rules {
		if rules[i].rule == rule {
			return s.shed[i].Load()
		}
	}
	panic(fmt.Sprintf("no rule %q", rule))
}

// readBy gives a body to a connection as an answer does.
func (f *flight) readBy(c *lineConn, k *sharedBody) {
	var ctx fasthttp.RequestCtx
	ctx.Init2(c, nil, true)
	f.share(&ctx, k)
}

// TestDroppedWhileRead: a body that the cache drops counts once until the last of its readers is done with it; one that was made for those who waited and is
// too long to be kept does so from the start.
func TestDroppedWhileRead(t *testing.T) {
	f := newFlight(0)
	all := newConnections(0, 0, new(shedCounts), nil, nil)
	connection := func() *lineConn {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { theirs.Close() })
		return &lineConn{Conn: ours, all: all, flight: f}
	}
	want := func(what string, bytes int) {
		t.Helper()
		if got := f.bytes.Load(); got != int64(bytes) {
			t.Errorf("%s: %d bytes are in flight, want %d", what, got, bytes)
		}
	}
	c := newBodyCache(bodyShards*100_000, f)
	leave := func(n, length int) {
		for range 2 { // the second time it is kept
			if _, m, _ := c.enter(testKey(n)); m != nil {
				c.leave(m, &finished{body: make([]byte, length)}, nil)
			}
		}
	}
	leave(1, 20_000)
	first, second := connection(), connection()
	for _, reader := range []*lineConn{first, second, second} { // the last one sends it in two answers, one behind the other
		known, _, _ := c.enter(testKey(1))
		f.readBy(reader, known)
	}
	want("in the cache", 2*answerMemory)
	key := testKey(1)
	shard, last := &c.shards[key.shard()], 1
	for shard.kept[key] != nil {
		last++
		leave(last, 20_000)
	}
	want("dropped", 2*answerMemory+20_000+keptOverhead)
	first.settle()
	want("one has read it", answerMemory+20_000+keptOverhead)
	second.lend(&longBodies)
	known, _, _ := c.enter(testKey(last))
	f.readBy(second, known)
	want("the other one sends another body", answerMemory)
	if second.body != nil {
		t.Error("it holds the buffer of an answer before")
	}
	for range 2 {
		_ = second.Close()
	}
	want("none is read", 0)

	_, m, _ := c.enter(testKey(-1))
	joined := make(chan *sharedBody)
	for range 2 {
		go func() {
			k, _, _ := c.enter(testKey(-1))
			joined <- k
		}()
	}
	waitFor(t, "two who wait", func() bool { return c.counts().joins == 2 })
	c.leave(m, &finished{body: make([]byte, 90_000)}, nil)
	want("a long body", 90_000+keptOverhead)
	first.more = true // of what it sent not all was looked at
	f.readBy(first, <-joined)
	want("that one sends", 90_000+keptOverhead+answerMemory+readBuffer)
	first.settle()
	want("that another has yet to send", 90_000+keptOverhead)
	var process fasthttp.RequestCtx
	f.share(&process, <-joined)
	want("which it does without a connection", 0)
}

// TestSharedBodiesProperty: connections read bodies, which come and go, make some themselves, take their answers, are closed by whoever comes first, and
// begin anew. What is in flight is never below nothing, and nothing when all is over.
func TestSharedBodiesProperty(t *testing.T) {
	const (
		workers = 8
		turns   = 3000
		bodies  = 300
	)
	f := newFlight(0)
	c := newBodyCache(1<<20, f) // a tenth of all
	all := newConnections(0, 0, new(shedCounts), nil, nil)
	var running, closing sync.WaitGroup
	for worker := range workers {
		running.Go(func() {
			r := rand.New(rand.NewPCG(uint64(worker), 11))
			conn := &lineConn{Conn: nowhere{}, all: all, flight: f}
			for range turns {
				conn.more = r.IntN(2) == 0
				n := r.IntN(r.IntN(bodies) + 1)
				known, m, _ := c.enter(testKey(n))
				switch {
				case known == nil && r.IntN(10) == 0:
					c.leave(m, nil, nil)
				case known == nil && m != nil:
					conn.charge(100)
					c.leave(m, &finished{body: make([]byte, 8+n*100), rows: n}, nil)
				case known != nil:
					if known.rows != n || len(known.body) != 8+n*100 {
						t.Errorf("body %d: %d rows, %d bytes", n, known.rows, len(known.body))
					}
					f.readBy(conn, known)
				}
				switch r.IntN(6) {
				case 0: // the next request is there already
				case 1:
					old := conn
					closing.Go(func() { _ = old.Close() })
					_ = old.Close()
					conn = &lineConn{Conn: nowhere{}, all: all, flight: f}
				default:
					conn.settle()
				}
				if bytes := f.bytes.Load(); bytes < 0 {
					t.Errorf("%d bytes are in flight", bytes)
				}
			}
			_ = conn.Close()
		})
	}
	running.Wait()
	closing.Wait()
	if bytes := f.bytes.Load(); bytes != 0 {
		t.Errorf("afterwards %d bytes are in flight", bytes)
	}
	found := c.counts()
	if found.hits == 0 || found.misses < bodies {
		t.Errorf("%d hits, %d misses", found.hits, found.misses)
	}
	t.Logf("%+v", found)
	for i := range c.shards {
		for key, k := range c.shards[i].kept {
			if k.readers.Load() != 0 {
				t.Errorf("%v has %d readers", key, k.readers.Load())
			}
		}
	}
}

// nowhere is a connection to nobody.
type nowhere struct{ net.Conn }

func (nowhere) Close() error { return nil }

// TestSharedBodiesOverNetwork: clients ask for pages, more than the cache holds, and read all, some or nothing of them. When they have gone nothing is in
// flight, and no page has a reader.
func TestSharedBodiesOverNetwork(t *testing.T) {
	s := testServer(t, Options{CacheBytes: 1 << 20, WriteTimeout: time.Minute, QueueWait: 10 * time.Second}, []*testTable{numberedLocations(2_000, nil)})
	address := listenFor(t, func(l net.Listener) error { return s.Serve(slimListener{l, 4 << 10}) })
	var clients sync.WaitGroup
	for client := range 16 {
		clients.Go(func() {
			r := rand.New(rand.NewPCG(uint64(client), 5))
			for range 12 {
				conn, err := net.Dial("tcp", address)
				if err != nil {
					t.Error(err)
					return
				}
				var requests strings.Builder
				for more := r.IntN(20); more >= 0; more-- {
					last := ""
					if more == 0 {
						last = "Connection: close\r\n"
					}
					target := fmt.Sprintf("/api/v2/metadata/location?app_identifier=%s&offset=%d", goodIdentifier, r.IntN(r.IntN(150)+1))
					fmt.Fprintf(&requests, "GET %s HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n%s\r\n", target, last)
				}
				if _, err := io.WriteString(conn, requests.String()); err != nil {
					t.Error(err)
				}
				_, _ = io.CopyN(io.Discard, conn, int64(r.IntN(30_000)))
				conn.Close()
			}
		})
	}
	clients.Wait()
	waitFor(t, "connections that ended", func() bool { return s.callers.count() == 0 })
	if bytes := s.flight.bytes.Load(); bytes != 0 {
		t.Errorf("%d bytes are in flight", bytes)
	}
	found := s.bodies.counts()
	if found.hits == 0 || s.panics.Load() > 0 {
		t.Errorf("%d hits, %d panics", found.hits, s.panics.Load())
	}
	t.Logf("%+v", found)
	for i := range s.bodies.shards {
		shard := &s.bodies.shards[i]
		shard.Lock()
		for key, k := range shard.kept {
			if k.readers.Load() != 0 {
				t.Errorf("%v has %d readers", key, k.readers.Load())
			}
		}
		shard.Unlock()
	}
}
