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

	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/api/wire"
	"hdqs/snapshot/store"
)

// slowClient pipelines several requests for a page and reads nothing.
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
	if _, err := io.WriteString(conn, strings.Repeat("GET "+target+" HTTP/1.1\r\nHost: a\r\nAccept-Encoding: "+
		"gzip\r\n\r\n", times)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestSharedBytesInFlight checks that clients that do not read a cached page count towards the byte
// budget with the memory that each of them occupies. When there are too many, other clients are
// refused. When they have gone, no bytes are in flight.
func TestSharedBytesInFlight(t *testing.T) {
	t.Parallel()
	s := testServer(t, state.Options{InflightBytes: 1 << 20},
		[]*testTable{numberedLocations(20_000, nil)})
	address := listenFor(t, func(l net.Listener) error { return s.Serve(smallBufferListener{l, 4 << 10}) })
	target := "/api/v2/metadata/location?app_identifier=" + goodIdentifier
	gzip := []reply.HeaderField{{Name: "Accept-Encoding", Value: "gzip"}}
	var page Answer
	for range 3 {
		page = ask(t, address, "GET", target, gzip)
	}
	if found := s.Bodies.Counts(); page.Status != 200 || found.Hits != 1 {
		t.Fatalf("status %d, %d hits", page.Status, found.Hits)
	}
	waitFor(t, "the answers to be read", func() bool { return s.Budget.Bytes() == 0 })
	refused := func() int64 { return s.shedBy(reply.RuleBytes) }
	var slow []net.Conn
	for refused() == 0 && len(slow) < 100 {
		before := s.Bodies.Counts().Hits
		slow = append(slow, slowClient(t, address, target, 50))
		waitFor(t, "its first answer", func() bool { return s.Bodies.Counts().Hits > before || refused() > 0 })
	}
	if refused() == 0 {
		t.Fatalf("%d clients do not read %d bytes each; %d bytes are in flight, and no client is refused", len(slow),
			len(page.Body), s.Budget.Bytes())
	}
	if got := ask(t, address, "GET", target, gzip); got.Status != 503 || !bytes.Contains(got.Body,
		[]byte(reply.RuleBytes)) {
		t.Errorf("another client: %d %.100s", got.Status, got.Body)
	}
	for _, c := range []struct {
		method string
		header []reply.HeaderField
		status int
	}{
		{"OPTIONS", gzip, 204},
		{"HEAD", nil, 200},
		{"HEAD", gzip, 503}, // its length is known only after rendering
	} {
		if got := ask(t, address, c.method, target, c.header); got.Status != c.status {
			t.Errorf("%s %v: %d, want %d", c.method, c.header, got.Status, c.status)
		}
	}
	for _, conn := range slow {
		conn.Close()
	}
	waitFor(t, "the connections to be closed", func() bool { return s.Budget.Bytes() == 0 })
	if got := ask(t, address, "GET", target, gzip); got.Status != 200 || !bytes.Equal(got.Body, page.Body) {
		t.Errorf("after that: status %d, %d bytes", got.Status, len(got.Body))
	}
}

// shedBy returns how many requests a rule has refused.
func (s *Server) shedBy(rule string) int64 {
	for i := range reply.Rules {
		if reply.Rules[i].Rule == rule {
			return s.Shed[i].Load()
		}
	}
	panic(fmt.Sprintf("no rule %q", rule))
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
func (r sender) answer(b *list.CachedBody) {
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

// testConnections returns connections that count their bytes in a budget.
func testConnections(budget *wire.Budget) *wire.Connections {
	return wire.NewConnections(wire.Options{ReadBuffer: readBuffer, MaxBody: maxBody, Budget: budget})
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
		if got := budget.Bytes(); got != int64(bytes) {
			t.Errorf("%s: %d bytes are in flight, want %d", what, got, bytes)
		}
	}
	c := list.NewBodyCache(list.BodyShards*100_000, budget)
	add := func(n, length int) {
		for range 2 { // it is cached at the second request
			if _, m, _ := c.Begin(testKey(n)); m != nil {
				c.End(m, list.Finished{Body: make([]byte, length)}, nil)
			}
		}
	}
	add(1, 20_000)
	first, second := newSender(all), newSender(all)
	for _, r := range []sender{first, second, second} { // the second connection sends it in two successive answers
		known, _, _ := c.Begin(testKey(1))
		r.answer(known)
	}
	want("in the cache", 2*each)
	key := testKey(1)
	shard, last := &c.Shards[key.Shard()], 1
	for shard.Kept[key] != nil {
		last++
		add(last, 20_000)
	}
	want("evicted", 2*each+20_000+list.CachedOverhead)
	first.finish()
	want("one connection has sent it", each+20_000+list.CachedOverhead)
	known, _, _ := c.Begin(testKey(last))
	second.answer(known)
	want("the other connection sends another body", each)
	for range 2 {
		_ = second.Close()
	}
	want("both connections are closed", 0)

	_, m, _ := c.Begin(testKey(-1))
	joined := make(chan *list.CachedBody)
	for range 2 {
		go func() {
			b, _, _ := c.Begin(testKey(-1))
			joined <- b
		}()
	}
	waitFor(t, "two waiters", func() bool { return c.Counts().Joins == 2 })
	c.End(m, list.Finished{Body: make([]byte, 90_000)}, nil)
	want("a body too long to be cached", 90_000+list.CachedOverhead)
	first.answer(<-joined) // after a part of its next request was read
	want("one waiter sends it", 90_000+list.CachedOverhead+each+readBuffer)
	first.finish()
	want("the other waiter has yet to send it", 90_000+list.CachedOverhead)
	wire.Send(new(fasthttp.RequestCtx), &(<-joined).Shared)
	want("it was sent without a connection", 0)
}

// TestSharedBodiesProperty runs connections that send bodies while the cache evicts them, render
// some themselves, finish their answers, are closed from two goroutines, and start again. The bytes
// in flight must never be negative, and zero at the end.
func TestSharedBodiesProperty(t *testing.T) {
	t.Parallel()
	const (
		workers = 8
		turns   = 3000
		bodies  = 300
	)
	budget := wire.NewBudget(0)
	c := list.NewBodyCache(1<<20, budget) // room for a tenth of all bodies
	all := testConnections(budget)
	var running, closing sync.WaitGroup
	for worker := range workers {
		running.Go(func() {
			r := rand.New(rand.NewPCG(uint64(worker), 11))
			conn := newSender(all)
			for range turns {
				n := r.IntN(r.IntN(bodies) + 1)
				known, m, _ := c.Begin(testKey(n))
				switch {
				case known == nil && r.IntN(10) == 0:
					c.End(m, list.Finished{}, nil)
				case known == nil && m != nil:
					wire.Charge(conn.ctx(), 100)
					c.End(m, list.Finished{Body: make([]byte, 8+n*100), Rows: n}, nil)
				case known != nil:
					if known.Rows != n || len(known.Body) != 8+n*100 {
						t.Errorf("body %d: %d rows, %d bytes", n, known.Rows, len(known.Body))
					}
					conn.answer(known)
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
				if bytes := budget.Bytes(); bytes < 0 {
					t.Errorf("%d bytes are in flight", bytes)
				}
			}
			_ = conn.Close()
		})
	}
	running.Wait()
	closing.Wait()
	if bytes := budget.Bytes(); bytes != 0 {
		t.Errorf("at the end %d bytes are in flight", bytes)
	}
	found := c.Counts()
	if found.Hits == 0 || found.Misses < bodies {
		t.Errorf("%d hits, %d misses", found.Hits, found.Misses)
	}
	t.Logf("%+v", found)
	for i := range c.Shards {
		for key, b := range c.Shards[i].Kept {
			if b.Readers() != 0 {
				t.Errorf("%v has %d readers", key, b.Readers())
			}
		}
	}
}

// TestSharedBodiesOverNetwork runs clients that request more pages than the cache holds and read
// all, some or nothing of them. When they have gone, no bytes are in flight and no page has a
// reader.
func TestSharedBodiesOverNetwork(t *testing.T) {
	t.Parallel()
	s := testServer(t, state.Options{CacheBytes: 1 << 20},
		[]*testTable{numberedLocations(2_000, nil)})
	address := listenFor(t, func(l net.Listener) error { return s.Serve(smallBufferListener{l, 4 << 10}) })
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
					fmt.Fprintf(&requests, "GET %s HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n%s\r\n", target,
						last)
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
	waitFor(t, "the connections to be closed", func() bool { return s.Callers.Count() == 0 })
	if bytes := s.Budget.Bytes(); bytes != 0 {
		t.Errorf("%d bytes are in flight", bytes)
	}
	found := s.Bodies.Counts()
	if found.Hits == 0 || s.Panics.Load() > 0 {
		t.Errorf("%d hits, %d panics", found.Hits, s.Panics.Load())
	}
	t.Logf("%+v", found)
	for i := range s.Bodies.Shards {
		shard := &s.Bodies.Shards[i]
		shard.Lock()
		for key, k := range shard.Kept {
			if k.Readers() != 0 {
				t.Errorf("%v has %d readers", key, k.Readers())
			}
		}
		shard.Unlock()
	}
}

// putSnapshot adds a snapshot to a store.
func putSnapshot(t *testing.T, st *store.Store, id string, tables []*testTable) {
	t.Helper()
	manifest := &store.Manifest{Format: 1, ID: id, SnapshotTime: sampleTime, CatalogURL: "https://catalog.example"}
	for _, x := range tables {
		ref, err := st.PutSegment(x.data(t))
		if err != nil {
			t.Fatal(err)
		}
		manifest.Tables = append(manifest.Tables, ref)
	}
	if err := st.PutManifest(manifest); err != nil {
		t.Fatal(err)
	}
}

// cells splits a CSV body into lines of cells, with their quotes.
func cells(body string) (lines [][]string) {
	var line []string
	from, quoted := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ',':
			line, from = append(line, body[from:i]), i+1
		case c == '\n':
			lines, line, from = append(lines, append(line, body[from:i+1])), nil, i+1
		}
	}
	return lines
}
