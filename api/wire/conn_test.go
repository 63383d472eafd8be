package wire

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"testing"

	"github.com/valyala/fasthttp"
)

// testConnections are connections with room for a request.
func testConnections() *Connections {
	return NewConnections(Options{ReadBuffer: 4096, MaxBody: 16, Budget: NewBudget(0)})
}

// pair is a TCP connection: the client's end, and the server's as the listener wraps it.
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

// TestCoalescedWrites writes pieces of all lengths around the write buffer's, closes, and compares
// what arrives.
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
		if err := server.Close(); err != nil {
			t.Fatal(err)
		}
		if got := <-arrived; !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("%d bytes arrived, which are not the %d that were written", len(got), want.Len())
		}
	}
}

// TestFlushedByRead: a buffered write goes out when the connection waits for the next request.
func TestFlushedByRead(t *testing.T) {
	t.Parallel()
	client, server := pair(t)
	if _, err := server.Write(make([]byte, WriteBuffer)); err != nil {
		t.Fatal(err)
	}
	go server.Read(make([]byte, 1))
	if n, err := io.ReadFull(client, make([]byte, WriteBuffer)); err != nil {
		t.Fatalf("%d bytes arrived: %v", n, err)
	}
}

// TestLentBuffer: a connection keeps its buffer from answer to answer of one length. It has none
// while it waits for a request, after it is over, and while its answer has its body elsewhere.
func TestLentBuffer(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	defer b.Close()
	c := testConnections().wrap(a)
	var ctx fasthttp.RequestCtx
	ctx.Init2(c, nil, true)
	short := Buffer(&ctx, false)
	if Buffer(&ctx, false) != short {
		t.Error("another buffer for an answer of the same length")
	}
	if long := Buffer(&ctx, true); long == short || long.pool != &longBuffers {
		t.Error("a short buffer for a long answer")
	}
	go b.Write([]byte("x"))
	if _, err := c.Read(make([]byte, 10)); err != nil || c.lease.buffer != nil {
		t.Errorf("while it reads it has the buffer %v: %v", c.lease.buffer, err)
	}
	Buffer(&ctx, true)
	NoteState(c, fasthttp.StateIdle)
	if c.lease.buffer == nil {
		t.Error("it has no buffer before its answer is written")
	}
	NoteState(c, fasthttp.StateClosed)
	if c.lease.buffer != nil {
		t.Error("it has a buffer after it is over")
	}
	Buffer(&ctx, true)
	ChargeOther(&ctx, 0)
	if c.lease.buffer != nil {
		t.Error("it has a buffer while its answer's body is elsewhere")
	}
}
