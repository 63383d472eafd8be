package wire

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// WriteBuffer is the WriteBufferSize of the fasthttp.Server.
const WriteBuffer = 4 << 10

// deadlineSlack is how much earlier than its deadline a write may time out.
const deadlineSlack = time.Second

// coalescer joins writes. fasthttp writes an answer longer than its write buffer as one full buffer
// and then the rest. The full buffer waits here for the rest, and both are sent with one system
// call: each system call wakes the client.
type coalescer struct {
	pending  atomic.Pointer[pendingWrite]
	deadline time.Time
}

// pendingWrite is a full write buffer, with the memory to send it together with what follows.
type pendingWrite struct {
	bytes [WriteBuffer]byte
	both  [2][]byte
	out   net.Buffers
}

var pendingWrites = sync.Pool{New: func() any { return new(pendingWrite) }}

// write writes p. A full buffer is kept until the next write or read or until the connection is
// closed.
func (w *coalescer) write(c net.Conn, p []byte) (int, error) {
	b := w.pending.Swap(nil)
	switch {
	case b == nil && len(p) == WriteBuffer:
		b = pendingWrites.Get().(*pendingWrite)
		copy(b.bytes[:], p)
		w.pending.Store(b)
		return len(p), nil
	case b == nil:
		return c.Write(p)
	}
	n, err := b.send(c, p)
	return int(max(n-WriteBuffer, 0)), err
}

func (w *coalescer) flush(c net.Conn) error {
	b := w.pending.Swap(nil)
	if b == nil {
		return nil
	}
	_, err := b.send(c, nil)
	return err
}

func (b *pendingWrite) send(c net.Conn, p []byte) (int64, error) {
	b.both = [2][]byte{b.bytes[:], p}
	b.out = b.both[:]
	n, err := b.out.WriteTo(c)
	b.both, b.out = [2][]byte{}, nil
	pendingWrites.Put(b)
	return n, err
}

// setDeadline keeps the present deadline if it is only a little earlier: fasthttp sets one for each
// answer, and moving a timer costs as much as a header field.
func (w *coalescer) setDeadline(c net.Conn, at time.Time) error {
	if early := at.Sub(w.deadline); early >= 0 && early < deadlineSlack && !at.IsZero() {
		return nil
	}
	w.deadline = at
	return c.SetWriteDeadline(at)
}
