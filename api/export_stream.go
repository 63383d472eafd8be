package api

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hdqs/api/encode"
	"hdqs/api/metrics"
)

// exportStream is the body of an export. fasthttp has it write itself, in chunks, after the handler
// has returned, and closes it, also when the client is gone. Until then it keeps the snapshot open
// and a slot of exports taken.
//
// If it cannot be completed, the connection is closed without the last chunk, and a compressed body
// has no end either, so that no client takes a part for the whole.
type exportStream struct {
	server  *Server
	served  *served
	list    *boundList
	record  *record  // of the request; nil if it did not come over HTTP
	conn    net.Conn // nil likewise
	until   time.Time
	coding  encode.Coding
	write   func(io.Writer) error
	body    io.Writer // that of the connection, while the stream is written
	bytes   int64     // sent
	outcome exportOutcome
	closed  sync.Once
}

var (
	errSlowReader = errors.New("api: an export took longer than exports may take")
	errOnlyWriter = errors.New("api: an export can only be written")
	errGone       = errors.New("api: the client of an export is gone")
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
func (st *exportStream) start(a *reply, body exportBody) {
	st.write, st.coding, st.until = body.write, a.coding, time.Now().Add(st.server.options.ExportTimeout)
	if st.record = recordOf(a.ctx); st.record != nil {
		st.record.streamed = true
	}
	if a.ctx.IsHead() {
		st.write = func(io.Writer) error { return nil }
	} else {
		st.outcome = exportGone // unless it is written
	}
	size := body.size
	if st.coding != encode.Identity || a.ctx.IsHead() {
		size = -1
	}
	a.ctx.Response.SetBodyStream(st, size)
}

// SupportsBodyWriteTo implements fasthttp.BodyWriterTo.
func (st *exportStream) SupportsBodyWriteTo() bool { return true }

// Read implements io.Reader, which bodies must be.
func (st *exportStream) Read([]byte) (int, error) { return 0, errOnlyWriter }

// WriteTo sends the body, which another goroutine makes (exportMaker).
func (st *exportStream) WriteTo(w io.Writer) (int64, error) {
	err := st.sendAll(w)
	if st.outcome != notExported {
		st.outcome = outcomeOf(err)
	}
	return st.bytes, err
}

func (st *exportStream) sendAll(w io.Writer) error {
	st.body = w
	m := newExportMaker(st)
	defer m.stop()
	for piece := range m.made {
		if err := st.send(piece); err != nil {
			return err
		}
		m.free <- piece[:0]
	}
	return m.err
}

// send sends a piece. Its rows may be wrong if the segment became suspect meanwhile.
func (st *exportStream) send(piece []byte) error {
	if st.list.isSuspect() {
		return &Refused{Table: st.list.segment.Name()}
	}
	now := time.Now()
	if now.After(st.until) {
		return errSlowReader
	}
	deadline := now.Add(st.server.public.WriteTimeout) // of this piece: a long body takes longer than that
	if deadline.After(st.until) {
		deadline = st.until
	}
	if st.conn != nil {
		if err := st.conn.SetWriteDeadline(deadline); err != nil {
			return err
		}
	}
	n, err := st.body.Write(piece)
	st.bytes += int64(n)
	if err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}

// Close releases the slot and the snapshot.
func (st *exportStream) Close() error {
	st.closed.Do(func() {
		st.server.exports.ended[st.outcome].Add(1)
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
	ended [len(exportOutcomes)]atomic.Int64
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

// exportOutcome is how an export ended.
type exportOutcome uint8

const (
	notExported exportOutcome = iota // refused, or only its header was asked for
	exportSent
	exportFailed
	exportTimedOut
	exportGone
)

// exportOutcomes are the values of the label.
var exportOutcomes = [...]string{
	exportSent: "sent", exportFailed: "failed", exportTimedOut: "timeout", exportGone: "disconnected",
}

func outcomeOf(err error) exportOutcome {
	switch {
	case err == nil:
		return exportSent
	case errors.Is(err, errSlowReader), errors.Is(err, os.ErrDeadlineExceeded):
		return exportTimedOut
	case errors.Is(err, errGone):
		return exportGone
	}
	return exportFailed
}

// collect collects what exports count.
func (g *exportGate) collect(to chan<- prometheus.Metric) {
	to <- metrics.Gauge(exportsDesc, float64(g.running()))
	for outcome := exportSent; int(outcome) < len(exportOutcomes); outcome++ {
		to <- metrics.Counter(endedDesc, g.ended[outcome].Load(), exportOutcomes[outcome])
	}
}
