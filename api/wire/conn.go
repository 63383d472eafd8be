package wire

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// firstRead is how many bytes an idle connection can read. Most requests are shorter and need one
// read.
const firstRead = 1200

// errTooLong ends the reading of a request that has reached the maximum length.
var errTooLong = errors.New("wire: a request is longer than any that is read")

// conn wraps net.Conn with what fasthttp lacks:
//
//   - It reads as many bytes as fit into early when fasthttp asks for one byte. With
//     ReduceMemoryUsage fasthttp waits for the first byte of a request before it takes a read
//     buffer of 64 KiB. The bytes that come with the first one are kept here, so the usual request
//     costs one system call either way.
//   - It stops reading when a request exceeds the maximum length (progress).
//   - It can drain: during a shutdown it waits only briefly for the next request (Connections.End).
//   - It lingers when it is closed before its last request was read completely (linger.go).
//   - It counts what an answer holds in memory until it is written (lease).
//
// One goroutine reads and writes. Close may be called by any.
type conn struct {
	net.Conn
	all    *Connections
	client netip.Prefix // the client that the connection counts for; invalid without a limit per client
	lease  lease

	readBy  time.Time // the read deadline that fasthttp has set
	writeBy time.Time // the write deadline of the connection
	idle    bool      // no byte of the next request has arrived
	last    bool      // this is the last wait for a request: the connection drains
	cut     atomic.Bool
	request progress

	local any // see Local

	from, to int // the bytes of early that fasthttp has not read yet
	early    [firstRead]byte
}

// Read reads the request. fasthttp reads on only after it has written the answer before it.
func (c *conn) Read(p []byte) (int, error) {
	c.lease.settle()
	c.lease.returnBuffer()
	if c.request.isFull(c.all.maxRequest()) {
		return 0, errTooLong
	}
	n, err := c.readAhead(p)
	c.request.given += n
	return n, err
}

// readAhead returns bytes that were read early, or reads from the network.
func (c *conn) readAhead(p []byte) (int, error) {
	if c.from < c.to {
		n := copy(p, c.early[c.from:c.to])
		c.from += n
		return n, nil
	}
	if len(p) != 1 {
		n, err := c.receiveRest(p)
		c.request.note(p[:n])
		return n, err
	}
	n, err := c.receive(c.early[:])
	c.request.note(c.early[:n])
	if n == 0 {
		return 0, err
	}
	p[0] = c.early[0]
	c.from, c.to = 1, n
	return 1, err
}

// errManyRequests ends the reading of a request while too many others are not complete.
var errManyRequests = errors.New("wire: too many requests are not complete")

// receiveRest reads into the read buffer. It counts that while it waits for the rest of a request:
// thousands of clients that never send it would otherwise take all memory.
func (c *conn) receiveRest(p []byte) (int, error) {
	if c.idle {
		return c.receive(p)
	}
	waiting := c.all.options.Requests
	if waiting.IsFull() {
		c.request.refused = true
		return 0, errManyRequests
	}
	waiting.Add(int64(c.all.options.ReadBuffer))
	defer waiting.Add(-int64(c.all.options.ReadBuffer))
	return c.receive(p)
}

// receive reads from the network. A draining connection waits for the next request for a short time
// only, and then reports the end of the connection. Connections.End wakes all readers by a deadline
// in the past; readers whose own deadline has not passed continue.
func (c *conn) receive(p []byte) (int, error) {
	by := c.readBy
	for {
		if c.idle && !c.last && c.all.draining.Load() {
			c.last, by = true, time.Now().Add(c.all.options.DrainWait)
			if err := c.Conn.SetReadDeadline(by); err != nil {
				return 0, err
			}
		}
		n, err := c.Conn.Read(p)
		if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && c.all.draining.Load() {
			switch {
			case c.idle && !c.last:
				continue
			case time.Now().Before(by):
				if err := c.Conn.SetReadDeadline(by); err != nil {
					return 0, err
				}
				continue
			case c.idle:
				return 0, net.ErrClosed
			}
		}
		if c.idle = c.idle && n == 0; c.last && !c.idle && by != c.readBy {
			err = errors.Join(err, c.Conn.SetReadDeadline(c.readBy)) // for the rest of the request
		}
		return n, err
	}
}

// SetReadDeadline remembers the deadline, since draining shortens and restores it.
func (c *conn) SetReadDeadline(at time.Time) error {
	c.readBy = at
	return c.Conn.SetReadDeadline(at)
}

// deadlineSlack is how much earlier than its deadline a write may time out.
const deadlineSlack = time.Second

// SetWriteDeadline keeps the present deadline if it is only a little earlier: fasthttp sets one for
// each answer, and moving a timer costs as much as a header field.
func (c *conn) SetWriteDeadline(at time.Time) error {
	if early := at.Sub(c.writeBy); early >= 0 && early < deadlineSlack && !at.IsZero() {
		return nil
	}
	c.writeBy = at
	return c.Conn.SetWriteDeadline(at)
}

// Close closes the connection and releases what it holds. If the last request was not read
// completely, the first Close lingers.
func (c *conn) Close() error {
	c.lease.settle()
	if c.cut.Swap(false) && c.linger() {
		return nil
	}
	err := c.Conn.Close()
	c.all.remove(c)
	return err
}

// memory returns the memory that the connection holds besides a body. That includes the read buffer
// if the client sent its next request before it had this answer.
func (c *conn) memory() int64 {
	if c.request.more {
		return answerMemory + int64(c.all.options.ReadBuffer)
	}
	return answerMemory
}

// NoteState is the fasthttp.Server's ConnState. fasthttp calls it in the goroutine that serves the
// connection, when the connection becomes idle and when it is closed.
func NoteState(nc net.Conn, state fasthttp.ConnState) {
	c, ok := nc.(*conn)
	if !ok {
		return
	}
	switch state {
	case fasthttp.StateIdle:
		c.idle = c.from == c.to
		c.request.begin(c.idle)
	case fasthttp.StateClosed:
		c.lease.returnBuffer()
	}
}

// Local returns where a handler may keep a value with the connection of the request, which has
// one request at a time. It is nil if the connection is not of this package.
func Local(ctx *fasthttp.RequestCtx) *any {
	if c, ok := ctx.Conn().(*conn); ok {
		return &c.local
	}
	return nil
}

// CutShort marks a connection that will be closed after a request that was not read completely, or
// whose end is uncertain.
func CutShort(nc net.Conn) {
	if c, ok := nc.(*conn); ok {
		c.cut.Store(true)
	}
}
