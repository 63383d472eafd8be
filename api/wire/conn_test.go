package wire

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"testing"

	"github.com/valyala/fasthttp"

	"hdqs/internal/testkit"
)

// testConnections returns Connections with small buffers and no limits.
func testConnections() *Connections {
	return NewConnections(Options{ReadBuffer: 4096, MaxBody: 16, Budget: NewBudget(0)})
}

// pair opens a TCP connection and returns its client side, and its server side as the listener
// wraps it.
func pair(t *testing.T) (client net.Conn, server *conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	accepted, err := testConnections().Listen(l).Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { accepted.Close() })
	return client, accepted.(*conn)
}

// TestCoalescedWrites writes random data in pieces of lengths around the write buffer's size, and
// compares what the client receives.
func TestCoalescedWrites(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		client, server := pair(t)
		var want bytes.Buffer
		arrived := make(chan []byte)
		go func() {
			got, _ := io.ReadAll(client)
			arrived <- got
		}()
		for range r.IntN(30) {
			lengths := []int{1, 100, WriteBuffer - 1, WriteBuffer, WriteBuffer, WriteBuffer, WriteBuffer + 1, 100_000}
			p := make([]byte, lengths[r.IntN(len(lengths))])
			for i := range p {
				p[i] = byte(r.Uint32())
			}
			want.Write(p)
			n, err := server.Write(p)
			clear(p) // fasthttp reuses its buffer
			if n != len(p) || err != nil {
				t.Fatalf("wrote %d of %d bytes: %v", n, len(p), err)
			}
		}
		testkit.Must(t, server.Close())
		if got := <-arrived; !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("received %d bytes that differ from the %d written", len(got), want.Len())
		}
	}
}

// TestFlushedByRead checks that a buffered write is flushed when the connection starts to read the
// next request.
func TestFlushedByRead(t *testing.T) {
	t.Parallel()
	client, server := pair(t)
	if _, err := server.Write(make([]byte, WriteBuffer)); err != nil {
		t.Fatal(err)
	}
	go server.Read(make([]byte, 1))
	if n, err := io.ReadFull(client, make([]byte, WriteBuffer)); err != nil {
		t.Fatalf("received %d bytes: %v", n, err)
	}
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
	if Buffer(&ctx, false) != short {
		t.Error("a second answer of the same length got another buffer")
	}
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
