package wire

import (
	"net"
	"testing"

	"github.com/valyala/fasthttp"
)

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
