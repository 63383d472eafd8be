package wire

import (
	"sync"
	"sync/atomic"

	"github.com/valyala/fasthttp"
)

// answerMemory is about what an answer that its client does not read holds beside its body: a
// stack, fasthttp's request and response, and the write buffers.
const answerMemory = 20 << 10

// maxBufferKept is the largest body buffer that is kept for the next answer.
const maxBufferKept = 8 << 20

// lease is what a connection's last answer holds until it is written: its bytes of the budget, the
// shared body that it sends, and the buffer of its own body.
//
// fasthttp's pool keeps no buffers longer than most bodies, and buffers for a page of unknown
// length mostly are longer: it made two a request. To collect them took a twelfth of the time of
// small answers, a third with 10,000 idle connections, whose stacks are scanned each time.
type lease struct {
	budget *Budget
	bytes  atomic.Int64           // of budget; whoever closes the connection gives them back too
	shared atomic.Pointer[Shared] // likewise
	buffer *BodyBuffer            // only used by the goroutine that serves the connection
}

// charge counts bytes in place of what the lease had.
func (l *lease) charge(bytes int64) {
	l.releaseShared()
	l.budget.Add(bytes - l.bytes.Swap(bytes))
}

// settle gives back bytes and shared body.
func (l *lease) settle() {
	l.releaseShared()
	if l.bytes.Load() != 0 {
		l.budget.Add(-l.bytes.Swap(0))
	}
}

// releaseShared ends the use of the body that the last answer sent. Close may do so at the same
// time.
func (l *lease) releaseShared() {
	if l.shared.Load() == nil {
		return
	}
	if b := l.shared.Swap(nil); b != nil {
		b.Release()
	}
}

// BodyBuffer is the memory of a body.
type BodyBuffer struct {
	Bytes []byte
	pool  *sync.Pool
}

// Short answers have buffers of their own, so that none waits for its client with the memory of a
// long one.
var shortBuffers, longBuffers sync.Pool

// lend returns the buffer for the body of the connection's next answer. It is the connection's
// until that answer is written: then fasthttp reads the next request, or asks for the next answer
// if that request is there, or is done with the connection (NoteState). Close does not return it,
// since it may be called while the answer is being written.
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

// returnBuffer ends the use of the last answer's buffer.
func (l *lease) returnBuffer() {
	if l.buffer == nil {
		return
	}
	if cap(l.buffer.Bytes) <= maxBufferKept {
		l.buffer.pool.Put(l.buffer)
	}
	l.buffer = nil
}

// Buffer returns the buffer for the answer's body. A request without a connection of ours gets new
// memory.
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

// ChargeOther is Charge for an answer whose body is elsewhere. The connection may still have the
// buffer of the answer before, and returns it.
func ChargeOther(ctx *fasthttp.RequestCtx, bytes int) {
	if c, ok := ctx.Conn().(*conn); ok {
		c.lease.returnBuffer()
		c.lease.charge(int64(bytes) + c.memory())
	}
}

// Send makes the request's connection the reader of a shared body, in place of the caller, until
// the answer is written, and counts what the connection holds meanwhile. Without a connection of
// ours nobody can keep the body, and it is released.
func Send(ctx *fasthttp.RequestCtx, b *Shared) {
	c, ok := ctx.Conn().(*conn)
	if !ok {
		b.Release()
		return
	}
	ChargeOther(ctx, 0)
	c.lease.shared.Store(b)
}
