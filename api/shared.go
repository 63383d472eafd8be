package api

import (
	"sync/atomic"

	"github.com/valyala/fasthttp"
)

// sharedBody is a body of the cache, or one that was made for all who waited for it. Its place in the clock is its shard's.
type sharedBody struct {
	key bodyKey
	finished
	used    bool         // since the hand passed
	readers atomic.Int64 // requests that send it, and dropped once the cache does not have it
}

// dropped is more than all readers.
const dropped = 1 << 62

func (k *sharedBody) size() int { return len(k.body) + keptOverhead }

// drop notes that the cache has no more of it: from now on its readers hold its memory. It is counted before it is known whether there are any, so that
// the last of them never takes away what was not yet added.
func (k *sharedBody) drop(f *flight) {
	size := int64(k.size())
	f.bytes.Add(size)
	if k.readers.Add(dropped) == dropped {
		f.bytes.Add(-size)
	}
}

// release ends the use by one reader.
func (k *sharedBody) release(f *flight) {
	if k.readers.Add(-1) == dropped {
		f.bytes.Add(-int64(k.size()))
	}
}

// enter is the cache's, with the request's connection as the reader of a body that is there. Where there is no room for more bytes nothing is asked for.
func (s *Server) enter(ctx *fasthttp.RequestCtx, key bodyKey) (*sharedBody, *making, error) {
	if s.flight.full() {
		return nil, nil, &Busy{Rule: ruleBytes}
	}
	known, making, err := s.bodies.enter(key)
	if known != nil {
		s.flight.share(ctx, known)
	}
	return known, making, err
}

// share makes the request's connection the reader of a body, until it has taken the answer or ends, and counts what the connection holds meanwhile. Where
// there is no connection of ours nobody can make us wait.
func (f *flight) share(ctx *fasthttp.RequestCtx, k *sharedBody) {
	c, ok := ctx.Conn().(*lineConn)
	if !ok {
		k.release(f)
		return
	}
	f.chargeOthers(ctx, 0)
	c.shared.Store(k)
}

// unshare ends the use of the body that the last answer sent. Whoever closes the connection may come at the same time.
func (c *lineConn) unshare() {
	if c.shared.Load() == nil {
		return
	}
	if k := c.shared.Swap(nil); k != nil {
		k.release(c.flight)
	}
}

// answerMemory is about what an answer that its client does not take holds beside its body: a stack, the library's request and response, and the buffers of
// what is written.
const answerMemory = 20 << 10

// memory is what the connection holds beside a body. Of a client that sent its next request before it has this answer it is the read buffer too.
func (c *lineConn) memory() int64 {
	if c.more {
		return answerMemory + readBuffer
	}
	return answerMemory
}
