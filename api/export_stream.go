package api

import (
	"bufio"
	"errors"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"hdqs/api/encode"
)

// exportStream is the body of an export. fasthttp has it write itself, in chunks, after the handler
// has returned, and closes it, also when the client is gone. Until then it keeps the snapshot open
// and a slot of exports taken.
//
// If it cannot be completed, the connection is closed without the last chunk, and a compressed body
// has no end either, so that no client takes a part for the whole.
type exportStream struct {
	server *Server
	served *served
	list   *boundList
	record *record  // of the request; nil if it did not come over HTTP
	conn   net.Conn // nil likewise
	until  time.Time
	coding encode.Coding
	write  func(io.Writer) error
	body   io.Writer // that of the connection, while the stream is written
	bytes  int64     // sent
	closed sync.Once
}

var (
	errSlowReader = errors.New("api: an export took longer than exports may take")
	errOnlyWriter = errors.New("api: an export can only be written")
)

// newExportStream takes a slot for the stream of a request; ok is false if there is none.
func (s *Server) newExportStream(a *reply) (st *exportStream, ok bool) {
	select {
	case s.exports.slots <- struct{}{}:
	default:
		return nil, false
	}
	a.served.refs.Add(1) // the caller has one, so the count is not zero
	st = &exportStream{server: s, served: a.served, list: a.list}
	if recordOf(a.ctx) != nil {
		st.conn = a.ctx.Conn()
	}
	return st, true
}

// abandon ends a stream that was not started.
func (st *exportStream) abandon() { _ = st.Close() }

// start makes the stream the body of the answer.
func (st *exportStream) start(a *reply, write func(io.Writer) error) {
	st.write, st.coding, st.until = write, a.coding, time.Now().Add(st.server.options.ExportTimeout)
	if st.record = recordOf(a.ctx); st.record != nil {
		st.record.streamed = true
	}
	if a.ctx.IsHead() {
		st.write = func(io.Writer) error { return nil }
	}
	a.ctx.Response.SetBodyStream(st, -1)
}

// SupportsBodyWriteTo implements fasthttp.BodyWriterTo.
func (st *exportStream) SupportsBodyWriteTo() bool { return true }

// Read implements io.Reader, which bodies must be.
func (st *exportStream) Read([]byte) (int, error) { return 0, errOnlyWriter }

// exportBuffer joins the short writes of formats and encoders.
const exportBuffer = 64 << 10

// WriteTo writes the body. Rows are read and rendered by few streams at a time (exportGate), so
// that there is a core for short queries.
func (st *exportStream) WriteTo(w io.Writer) (total int64, err error) {
	debug.SetPanicOnFault(true)
	defer func() { total = st.bytes }()
	defer st.server.recoverBody(st.list, &err)
	st.body = w
	st.server.exports.begin()
	defer st.server.exports.end()
	out := bufio.NewWriterSize((*exportConn)(st), exportBuffer)
	if st.coding == encode.Identity {
		err = st.write(out)
	} else {
		coded := encode.NewStream(st.coding, out)
		if err = st.write(coded); err == nil {
			err = coded.Close()
		}
	}
	if err == nil {
		err = out.Flush()
	}
	return st.bytes, err
}

// exportConn is the connection of an export as a writer.
type exportConn exportStream

// exportPiece is the most that is sent at a time: the kernel copies it in about 40 microseconds, in
// which a core does nothing else.
const exportPiece = 128 << 10

// Write sends a part.
func (c *exportConn) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var sent int
		sent, err = c.send(p[n:min(n+exportPiece, len(p))])
		n += sent
	}
	return n, err
}

// send sends a piece. Its rows may be wrong if the segment became suspect meanwhile.
func (c *exportConn) send(p []byte) (int, error) {
	if c.list.isSuspect() {
		return 0, &Refused{Table: c.list.segment.Name()}
	}
	now := time.Now()
	if now.After(c.until) {
		return 0, errSlowReader
	}
	deadline := now.Add(c.server.public.WriteTimeout) // of this part: a long body takes longer than that
	if deadline.After(c.until) {
		deadline = c.until
	}
	if c.conn != nil {
		if err := c.conn.SetWriteDeadline(deadline); err != nil {
			return 0, err
		}
	}
	n, err := c.sendWithoutTurn(p)
	c.bytes += int64(n)
	return n, err
}

// sendWithoutTurn sends a piece while others read and render. The turn comes back after a panic
// too, since WriteTo gives it back.
func (c *exportConn) sendWithoutTurn(p []byte) (int, error) {
	c.server.exports.end()
	defer c.server.exports.begin()
	return c.body.Write(p)
}

// Close releases the slot and the snapshot.
func (st *exportStream) Close() error {
	st.closed.Do(func() {
		<-st.server.exports.slots
		if st.record != nil {
			var coding []byte
			if st.coding != encode.Identity {
				coding = []byte(st.coding.String())
			}
			st.record.closedIn(coding, st.bytes)
		}
		st.served.release(st.server.log)
	})
	return nil
}

// exportGate bounds exports: those that run, and those that use a core.
type exportGate struct {
	slots chan struct{} // of streams that run, most of which wait for their clients
	turns chan struct{} // of streams that read and render rows
}

// newExportGate makes a gate for some streams at once. Half of the cores are for other requests: if
// all were busy with long work, the Go runtime would look for new requests only every 10 ms.
func newExportGate(streams, cores int) *exportGate {
	return &exportGate{slots: make(chan struct{}, streams), turns: make(chan struct{}, max(1, cores/2))}
}

// begin waits for a turn, which the caller gives back with end.
func (g *exportGate) begin() { g.turns <- struct{}{} }

func (g *exportGate) end() { <-g.turns }

// running is how many streams run.
func (g *exportGate) running() int { return len(g.slots) }
