package wire

import (
	"sync"
	"sync/atomic"

	"github.com/valyala/fasthttp"
)

// answerMemory is about the memory that an unread answer occupies besides its body: a stack, the
// request and response of fasthttp, and the write buffers.
const answerMemory = 12<<10 + WriteBuffer

// WriteBuffer is the WriteBufferSize of the fasthttp.Server. Longer answers take two system calls,
// each of which wakes the client.
const WriteBuffer = 16 << 10

// maxBufferKept is the largest body buffer that is reused.
const maxBufferKept = 8 << 20

// lease is what a connection's last answer holds until it is written: its bytes of the budget, the
// shared body that it sends, or the buffer of its own body.
//
// The pool of fasthttp does not keep buffers that are longer than most bodies, and buffers for
// pages of unknown length usually are longer: it allocated two for each request. Collecting them
// took a twelfth of the time of small answers, and a third with 10,000 idle connections, whose
// stacks are scanned at each collection.
type lease struct {
	budget *Budget
	bytes  atomic.Int64           // of budget; Close releases them too, from any goroutine
	shared atomic.Pointer[Shared] // likewise released by Close
	buffer *BodyBuffer            // only used by the goroutine that serves the connection
}

// charge counts bytes, replacing what the lease counted before.
func (l *lease) charge(bytes int64) {
	l.releaseShared()
	l.budget.Add(bytes - l.bytes.Swap(bytes))
}

// settle releases the bytes and the shared body.
func (l *lease) settle() {
	l.releaseShared()
	if l.bytes.Load() != 0 {
		l.budget.Add(-l.bytes.Swap(0))
	}
}

// releaseShared releases the body that the last answer sent. Close may do so at the same time.
func (l *lease) releaseShared() {
	if l.shared.Load() == nil {
		return
	}
	if b := l.shared.Swap(nil); b != nil {
		b.Release()
	}
}

// BodyBuffer is the buffer of a body.
type BodyBuffer struct {
	Bytes []byte
	pool  *sync.Pool
}

// Short and long answers have separate pools, so that no short answer occupies a long buffer while
// it waits for its client.
var shortBuffers, longBuffers sync.Pool

// lend returns the buffer for the body of the connection's next answer. The connection keeps it
// until that answer is written: then fasthttp reads the next request, or requests the next buffer
// if a pipelined request is already there, or closes the connection (NoteState). Close does not
// return the buffer, since it may be called while the answer is being written.
func (l *lease) lend(pool *sync.Pool) *BodyBuffer {
	if l.buffer != nil && l.buffer.pool != pool {
		l.returnBuffer()
	}
	if l.buffer == nil {
		if l.buffer, _ = pool.Get().(*BodyBuffer); l.buffer == nil {
			l.buffer = &BodyBuffer{pool: pool}
		}
	}
	return l.buffer
}

// returnBuffer returns the last answer's buffer to its pool.
func (l *lease) returnBuffer() {
	if l.buffer == nil {
		return
	}
	if cap(l.buffer.Bytes) <= maxBufferKept {
		l.buffer.pool.Put(l.buffer)
	}
	l.buffer = nil
}

// Buffer returns the buffer for the answer's body. If the request has no connection of this
// package, the buffer is newly allocated.
func Buffer(ctx *fasthttp.RequestCtx, long bool) *BodyBuffer {
	pool := &shortBuffers
	if long {
		pool = &longBuffers
	}
	if c, ok := ctx.Conn().(*conn); ok {
		return c.lease.lend(pool)
	}
	return new(BodyBuffer)
}

// Charge counts the memory of an answer whose body is in its Buffer until the answer is written.
func Charge(ctx *fasthttp.RequestCtx, bytes int) {
	if c, ok := ctx.Conn().(*conn); ok {
		c.lease.charge(int64(bytes) + c.memory())
	}
}

// ChargeOther is like Charge for an answer whose body is elsewhere. If the connection still has the
// buffer of the answer before, that is returned.
func ChargeOther(ctx *fasthttp.RequestCtx, bytes int) {
	if c, ok := ctx.Conn().(*conn); ok {
		c.lease.returnBuffer()
		c.lease.charge(int64(bytes) + c.memory())
	}
}

// Send makes the request's connection a reader of a shared body until the answer is written, in
// place of the caller, and counts the memory that the connection holds meanwhile. Without a
// connection of this package, the body is released at once.
func Send(ctx *fasthttp.RequestCtx, b *Shared) {
	c, ok := ctx.Conn().(*conn)
	if !ok {
		b.Release()
		return
	}
	ChargeOther(ctx, 0)
	c.lease.shared.Store(b)
}
