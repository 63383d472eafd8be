package api

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// firstRead is how many bytes an idle connection has room for. A usual request is shorter and costs one read; see lineConn.
const firstRead = 1200

// writeSlack is by how much a write may have to end earlier than its deadline.
const writeSlack = time.Second

// errEndless ends the reading of a request that has all the bytes that one may have.
var errEndless = errors.New("api: a request is longer than any that is read")

// lineConn is a connection that knows eight things which the HTTP library does not.
//
// Whether the line it reads has ended: when a request does not fit into the read buffer, this tells a URI that alone is too long from header
// fields that are. The library forgets what it had read.
//
// Whether the request is a HEAD, whose answer has no body also when the library could make nothing of the request.
//
// What it had to send: its answer's bytes are in flight until the library reads on, which it does when all are written; so long it is the reader of a body
// that it shares (shared.go).
//
// Where its answer's body was made: in a buffer that goes to the next answer of whichever connection when the library reads on. The library's own
// pool keeps no buffers that are longer than what most bodies fill, and those made for a page of unknown length mostly are: it made two a request, and
// collecting them took a twelfth of the time of small answers, a third with 10,000 idle connections whose stacks are scanned each time.
//
// What to wait with: with ReduceMemoryUsage the library asks idle connections for a single byte, and takes a read buffer of 64 KiB only when
// that came. The bytes that came with it are kept here, so that the usual request costs one system call in either mode.
//
// Whether the wait for its next request is to be the last one: see connections.
//
// How much its request has had. The library bounds header, body and trailers, but reads and drops what stands between the chunks of a body as long as it comes.
// It asks for bytes only while the request's end is not among those that it has, so all of them are that request's, however many requests were sent at once.
//
// What belongs together: of an answer longer than its write buffer the library writes a buffer full and then the rest. The buffer is held until the
// rest comes, and both go with one system call: each wakes the client.
type lineConn struct {
	net.Conn
	all     *connections
	client  netip.Prefix // where a client's connections are bounded
	flight  *flight
	readBy  time.Time // the read deadline that the library has set
	writeBy time.Time // the write deadline
	waiting bool      // whether nothing of the next request has come
	last    bool      // whether this is the last wait
	held    atomic.Pointer[heldWrite]
	given   int         // bytes that the library got since it began with the request
	endless bool        // whether it was denied more
	short   atomic.Bool // whether the connection ends with a request that was not read whole; Close takes it, which anybody may call
	open    int         // bytes since the last line end
	ended   bool        // whether what was read last ends with an empty line
	more    bool        // whether it has more than one request, as far as one can tell
	begun   int         // how many bytes of start are the request's; -1 when it is not known where the request starts
	start   [len(headStart)]byte
	owed    atomic.Int64               // bytes of flight; also settled by whoever closes the connection
	shared  atomic.Pointer[sharedBody] // which the last answer sends; as owed
	body    *bodyBuffer                // of the last answer; of the goroutine that serves the connection alone
	from    int                        // what of early the library has not had yet
	to      int
	early   [firstRead]byte
}

// Read reads and counts.
func (c *lineConn) Read(p []byte) (int, error) {
	c.settle()
	c.giveBack()
	if err := c.let(); err != nil {
		return 0, err
	}
	if c.given >= maxRequest {
		c.endless = true
		return 0, errEndless
	}
	n, err := c.take(p)
	c.given += n
	return n, err
}

// take gives what was read early, or reads.
func (c *lineConn) take(p []byte) (int, error) {
	if c.from < c.to {
		n := copy(p, c.early[c.from:c.to])
		c.from += n
		return n, nil
	}
	if len(p) != 1 {
		n, err := c.receive(p)
		c.count(p[:n])
		return n, err
	}
	n, err := c.receive(c.early[:])
	c.count(c.early[:n])
	if n == 0 {
		return 0, err
	}
	p[0] = c.early[0]
	c.from, c.to = 1, n
	return 1, err
}

// receive reads from the network. Once connections are to end it waits for the next request for a moment only, and then says that the connection is closed.
// Whoever ends connections wakes all that read, by a deadline that is over; those whose own is not go on.
func (c *lineConn) receive(p []byte) (int, error) {
	by := c.readBy
	for {
		if c.waiting && !c.last && c.all.ending.Load() {
			c.last, by = true, time.Now().Add(c.all.wait)
			if err := c.Conn.SetReadDeadline(by); err != nil {
				return 0, err
			}
		}
		n, err := c.Conn.Read(p)
		if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && c.all.ending.Load() {
			switch {
			case c.waiting && !c.last:
				continue
			case time.Now().Before(by):
				if err := c.Conn.SetReadDeadline(by); err != nil {
					return 0, err
				}
				continue
			case c.waiting:
				return 0, net.ErrClosed
			}
		}
		if c.waiting = c.waiting && n == 0; c.last && !c.waiting && by != c.readBy {
			err = errors.Join(err, c.Conn.SetReadDeadline(c.readBy)) // for the rest of the request
		}
		return n, err
	}
}

// SetReadDeadline remembers the deadline, since it may be shortened and restored.
func (c *lineConn) SetReadDeadline(at time.Time) error {
	c.readBy = at
	return c.Conn.SetReadDeadline(at)
}

// headStart is how a HEAD starts.
const headStart = "HEAD "

var emptyLine = []byte("\r\n\r\n")

func (c *lineConn) count(read []byte) {
	if c.begun >= 0 && c.begun < len(c.start) {
		c.begun += copy(c.start[c.begun:], read)
	}
	c.ended = bytes.HasSuffix(read, emptyLine)
	c.more = bytes.Index(read, emptyLine) != len(read)-len(emptyLine)
	if i := bytes.LastIndexByte(read, '\n'); i >= 0 {
		c.open = len(read) - i - 1
	} else {
		c.open += len(read)
	}
}

// Close ends the connection and what it owes: in stages, the first time, when its last request was not read whole.
func (c *lineConn) Close() error {
	err := c.let()
	c.settle()
	if err == nil && c.short.Swap(false) && c.part() {
		return nil
	}
	err = errors.Join(err, c.Conn.Close())
	c.all.leave(c)
	return err
}

// writeBuffer is the length of the library's buffer of what it writes.
const writeBuffer = 4 << 10

// heldWrite is a full write buffer, and room to send it with what follows.
type heldWrite struct {
	bytes [writeBuffer]byte
	both  [2][]byte
	out   net.Buffers
}

var heldWrites = sync.Pool{New: func() any { return new(heldWrite) }}

// Write writes, or holds a full buffer until the next write, read or end of the connection.
func (c *lineConn) Write(p []byte) (int, error) {
	h := c.held.Swap(nil)
	switch {
	case h == nil && len(p) == writeBuffer:
		h = heldWrites.Get().(*heldWrite)
		copy(h.bytes[:], p)
		c.held.Store(h)
		return len(p), nil
	case h == nil:
		return c.Conn.Write(p)
	}
	n, err := h.send(c.Conn, p)
	return int(max(n-writeBuffer, 0)), err
}

// let writes what is held.
func (c *lineConn) let() error {
	h := c.held.Swap(nil)
	if h == nil {
		return nil
	}
	_, err := h.send(c.Conn, nil)
	return err
}

// send writes the buffer and p.
func (h *heldWrite) send(w net.Conn, p []byte) (int64, error) {
	h.both = [2][]byte{h.bytes[:], p}
	h.out = h.both[:]
	n, err := h.out.WriteTo(w)
	h.both, h.out = [2][]byte{}, nil
	heldWrites.Put(h)
	return n, err
}

// SetWriteDeadline keeps a deadline that is a little earlier: the library sets one for each answer, and moving a timer costs as much as a header field.
func (c *lineConn) SetWriteDeadline(at time.Time) error {
	if early := at.Sub(c.writeBy); early >= 0 && early < writeSlack && !at.IsZero() {
		return nil
	}
	c.writeBy = at
	return c.Conn.SetWriteDeadline(at)
}

func (c *lineConn) charge(bytes int64) {
	c.unshare()
	c.flight.bytes.Add(bytes - c.owed.Swap(bytes))
}

func (c *lineConn) settle() {
	c.unshare()
	if c.owed.Load() != 0 {
		c.flight.bytes.Add(-c.owed.Swap(0))
	}
}

// bodyBuffer is the memory of a body, in the pool of those for pages of about its length.
type bodyBuffer struct {
	bytes []byte
	pool  *sync.Pool
}

// Pages that are surely not long get buffers of their own, so that no short answer waits for its client with the memory of a long one.
var shortBodies, longBodies sync.Pool

// lend gives the buffer for the body of the connection's next answer. It is the connection's until that answer is written: then the library asks
// for the next request, or for the next answer if that request is there, or is done with the connection (ended). Close does not give it back, since whoever
// closes a connection need not be who writes to it.
func (c *lineConn) lend(pool *sync.Pool) *bodyBuffer {
	if c.body != nil && c.body.pool != pool {
		c.giveBack()
	}
	if c.body == nil {
		if c.body, _ = pool.Get().(*bodyBuffer); c.body == nil {
			c.body = &bodyBuffer{pool: pool}
		}
	}
	return c.body
}

// noteState is told by the library, in the goroutine that serves a connection, when the connection waits for its next request and when it is over.
func noteState(c net.Conn, state fasthttp.ConnState) {
	line, ok := c.(*lineConn)
	if !ok {
		return
	}
	switch state {
	case fasthttp.StateIdle:
		line.waiting = line.from == line.to
		line.given = 0
		line.begun = 0
		if line.from < line.to || !line.ended {
			line.begun = -1 // some of it was read already, or may have been
		}
	case fasthttp.StateClosed:
		line.giveBack()
	}
}

// giveBack ends the use of the last answer's buffer.
func (c *lineConn) giveBack() {
	if c.body == nil {
		return
	}
	if cap(c.body.bytes) <= keepBody {
		c.body.pool.Put(c.body)
	}
	c.body = nil
}

// bodyFor gives a buffer for the body of a page with so many rows. Where there is no connection of ours it is used once.
func bodyFor(ctx *fasthttp.RequestCtx, rows int) *bodyBuffer {
	pool := &longBodies
	if rows < surelyLong {
		pool = &shortBodies
	}
	if c, ok := ctx.Conn().(*lineConn); ok {
		return c.lend(pool)
	}
	return new(bodyBuffer)
}

// isHead says whether the request that the connection reads is surely a HEAD. Of one that was sent before its turn it is not known.
func isHead(c net.Conn) bool {
	line, ok := c.(*lineConn)
	return ok && line.begun == len(headStart) && string(line.start[:]) == headStart
}

// isEndless says whether the connection's request is longer than any that is read.
func isEndless(c net.Conn) bool {
	line, ok := c.(*lineConn)
	return ok && line.endless
}

// inFirstLine says whether a full read buffer holds no line end.
func inFirstLine(c net.Conn) bool {
	line, ok := c.(*lineConn)
	return ok && line.open >= readBuffer
}
