package wire

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/internal/testkit"
)

// serve answers every request with "ok" and counts the bytes it reads. Lingering connections stay
// for long unless the options set another time.
func serve(t *testing.T, o Options) (n *Connections, address string, read *atomic.Int64) {
	t.Helper()
	l := testkit.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	o.ReadBuffer, o.MaxBody, o.Budget = 16<<10, 16, NewBudget(0)
	if o.LingerTime == 0 {
		o.LingerTime = testkit.Patience
	}
	o.Count = func(string) {}
	o.Refuse = func(ctx *fasthttp.RequestCtx, rule string) { ctx.Error(rule, fasthttp.StatusServiceUnavailable) }
	n, read = NewConnections(o), new(atomic.Int64)
	server := &fasthttp.Server{
		Handler: func(ctx *fasthttp.RequestCtx) { ctx.SetBodyString("ok") },
		ErrorHandler: func(ctx *fasthttp.RequestCtx, err error) {
			ctx.Error("unread", UnreadStatus(ctx, err))
			CutShort(ctx.Conn())
		},
		ConnState: NoteState, Logger: new(discardLog), ReadBufferSize: o.ReadBuffer, WriteBufferSize: WriteBuffer,
		MaxRequestBodySize: o.MaxBody, ReduceMemoryUsage: true,
	}
	public := n.Listen(testkit.CountReads(l, read))
	done := make(chan struct{})
	go func() {
		defer close(done)
		server.Serve(public) //nolint:errcheck // returns when the listener is closed
		public.Close()
	}()
	t.Cleanup(func() {
		public.Close()
		<-done
	})
	return n, l.Addr().String(), read
}

// discardLog is a logger that discards its messages.
type discardLog struct{}

func (discardLog) Printf(string, ...any) {}

// client is the client side of a connection.
type client struct {
	net.Conn
	reader *bufio.Reader
}

func dial(t *testing.T, address string) client {
	t.Helper()
	conn := testkit.Value(net.Dial("tcp", address))(t)
	t.Cleanup(func() { conn.Close() })
	testkit.Must(t, conn.SetDeadline(time.Now().Add(testkit.Patience)))
	return client{conn, bufio.NewReader(conn)}
}

// get sends a valid request that asks to close the connection, and returns the status.
func get(t *testing.T, address string) int {
	t.Helper()
	c := dial(t, address)
	testkit.Value(io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))(t)
	return testkit.Value(testkit.ReadWhole(c.reader))(t)
}

var waitFor = testkit.WaitFor

// badRequest has no Host header; it is answered without reading further.
const badRequest = "GET / HTTP/1.1\r\n\r\n"

// lingeringClient sends a bad request, reads the answer and leaves the connection open.
func lingeringClient(t *testing.T, address string) client {
	t.Helper()
	c := dial(t, address)
	testkit.Value(io.WriteString(c, badRequest))(t)
	if status, err := testkit.ReadWhole(c.reader); status != 400 || err != nil {
		t.Fatalf("%d %v", status, err)
	}
	return c
}

// TestLingeringCounts checks that a lingering connection counts as open until its client closes it.
func TestLingeringCounts(t *testing.T) {
	t.Parallel()
	n, address, _ := serve(t, Options{Connections: 1, PerClient: 1})
	c := lingeringClient(t, address)
	testkit.Equal(t, get(t, address), 503, "status while another connection lingers")
	c.Close()
	over := func() bool { return n.Count()+len(n.lingering) == 0 }
	waitFor(t, "the lingering connection to be closed", over)
	testkit.Equal(t, get(t, address), 200, "status after it was closed")
	waitFor(t, "the next connection to be closed", over)
	if len(n.perClient) > 0 {
		t.Errorf("the clients %v are still counted", n.perClient)
	}
}

// TestLingerLimits checks that a connection does not linger when too many others do, when its time
// is over, or when its client sends too much.
func TestLingerLimits(t *testing.T) {
	t.Parallel()
	n, address, read := serve(t, Options{})
	over := func() bool { return n.Count() == 0 }

	for range maxLingering {
		n.lingering <- struct{}{}
	}
	lingeringClient(t, address)
	waitFor(t, "the connection to be closed without lingering", over)
	for range maxLingering {
		<-n.lingering
	}

	c := lingeringClient(t, address)
	before := read.Load()
	var err error
	for more := make([]byte, 100_000); err == nil; {
		_, err = c.Write(more)
	}
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		t.Error("an endless request body is read without limit")
	}
	waitFor(t, "the end of a connection whose client keeps sending", over)
	if n := read.Load() - before; n < maxLingerRead/2 || n > maxLingerRead {
		t.Errorf("%d bytes were read from a client that keeps sending, want from %d to %d", n, maxLingerRead/2,
			maxLingerRead)
	}

	hasty, address, _ := serve(t, Options{LingerTime: 10 * time.Millisecond})
	lingeringClient(t, address)
	waitFor(t, "the end of a connection whose client sends nothing", func() bool {
		return hasty.Count()+len(hasty.lingering)+len(n.lingering) == 0
	})
}

// TestEndWaitsForLingering checks that End waits for lingering connections, and that their clients
// receive their answers.
func TestEndWaitsForLingering(t *testing.T) {
	t.Parallel()
	n, address, _ := serve(t, Options{})
	c := dial(t, address)
	testkit.Value(io.WriteString(c, badRequest))(t)
	waitFor(t, "a lingering connection", func() bool { return len(n.lingering) == 1 })
	ended := make(chan struct{})
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
		defer cancel()
		n.End(ctx)
		close(ended)
	}()
	waitFor(t, "the listener to be closed", func() bool {
		other, err := net.Dial("tcp", address)
		if err == nil {
			other.Close()
		}
		return err != nil
	})
	waitFor(t, "a single open connection", func() bool { return n.Count() == 1 })
	if _, err := io.WriteString(c, strings.Repeat("x", 1<<20)); err != nil {
		t.Error(err)
	}
	if status, err := testkit.ReadWhole(c.reader); status != 400 || err != nil {
		t.Errorf("%d %v", status, err)
	}
	select {
	case <-ended:
		t.Error("End returned before the last connection was closed")
	default:
	}
	c.Close()
	<-ended
}
