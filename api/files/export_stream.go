package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hdqs/api/encode"
	"hdqs/api/list"
	"hdqs/api/metrics"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/api/wire"
	"hdqs/internal/background"
)

// exportStream is the body of an export. Until it is closed, it keeps the snapshot open and a slot
// of exports taken.
//
// If it cannot be completed, the connection is closed without the last chunk, and a compressed body
// has no end either, so that no client takes a part for the whole.
type exportStream struct {
	server  *Files
	served  *state.Served
	clients []string // that the slot counts for
	pace    wire.Pace
	coding  encode.Coding
	write   func(io.Writer) error
	outcome ExportOutcome
}

var (
	errSlowReader = errors.New("api: an export took longer than exports may take")
	errGone       = errors.New("api: the client of an export is gone")
)

// newExportStream takes a slot for the stream of a request.
func (s *Files) newExportStream(a *list.Reply) (*exportStream, error) {
	var clients []string
	if address := wire.Client(a.Ctx); address.IsValid() {
		clients = append(clients, address.String())
	}
	if identifier := reply.IdentifierOf(a.Ctx, a.Request.Scanned.Identifier()); len(identifier) > 0 {
		clients = append(clients, "identifier "+string(identifier))
	}
	if rule := s.Exports.enter(clients); rule != "" {
		return nil, &reply.Busy{Rule: rule}
	}
	a.Served.Refs.Add(1) // the caller has one, so the count is not zero
	return &exportStream{server: s, served: a.Served, clients: clients, coding: a.Coding}, nil
}

// start makes the stream the body of the answer.
func (st *exportStream) start(a *list.Reply, body exportBody) {
	st.pace = wire.NewPace(a.Ctx, st.server.Lists.Public.WriteTimeout)
	st.pace.Until = time.Now().Add(st.server.State.Options.ExportTimeout)
	size := body.size
	if st.coding != encode.Identity || a.Ctx.IsHead() {
		size = -1
	}
	st.write = body.write
	if a.Ctx.IsHead() {
		st.write = func(io.Writer) error { return nil }
	} else {
		st.outcome = ExportGone // unless it is written
	}
	list.SendStream(a.Ctx, st, size, st.coding, a.Request.Question.ExportFormat().Memory+body.kept)
}

// exportPiece is the most that is sent at a time: the kernel copies it in about 40 microseconds, in
// which a core does nothing else.
const exportPiece = 128 << 10

var exportPieces = sync.Pool{New: func() any { return new([exportPiece]byte) }}

// WriteTo sends the body. Another goroutine makes it, whose thread has a low priority, so that it
// does not keep short queries from a core: a piece is made while the one before it is sent. Few
// exports are made at a time (exportGate).
func (st *exportStream) WriteTo(w io.Writer) (sent int64, err error) {
	pieces, pipe := io.Pipe()
	to := &exportPipe{PipeWriter: pipe, exports: st.server.Exports}
	var failed error // why the body is not complete, once it is made
	made := background.Start(func() {
		failed = st.inTurn(func() error { return st.writeBody(to) })
		pipe.Close()
	})
	piece := exportPieces.Get().(*[exportPiece]byte)
	defer exportPieces.Put(piece)
	for err == nil {
		var n int
		if n, err = pieces.Read(piece[:]); n > 0 {
			var now int64
			now, err = st.send(w, piece[:n])
			sent += now
		}
	}
	pieces.Close() // so that making ends
	<-made
	if to.end != nil {
		to.end()
	}
	if err == io.EOF {
		err = failed
	}
	if st.outcome != notExported {
		st.outcome = outcomeOf(err)
	}
	return sent, err
}

// inTurn runs work of an export when it is its turn, in a goroutine that package background
// started. A panic of the work is its error.
func (st *exportStream) inTurn(work func() error) (err error) {
	defer st.server.State.RecoverBody(&err)
	st.server.Exports.begin()
	defer st.server.Exports.end()
	return work()
}

func (st *exportStream) writeBody(to io.Writer) (err error) {
	pieces := bufio.NewWriterSize(to, exportPiece)
	if st.coding == encode.Identity {
		err = st.write(pieces)
	} else {
		coded := encode.NewStream(st.coding, pieces)
		if err = st.write(coded); err == nil {
			err = coded.Close()
		}
	}
	if err != nil {
		return err
	}
	return pieces.Flush()
}

// exportPipe passes pieces of a body on to be sent. Meanwhile others may be made.
type exportPipe struct {
	*io.PipeWriter
	exports *exportGate
	end     func() // gives back the thread that a long export lets the Go runtime use; nil before
}

// Write waits until the piece is about to be sent.
func (p *exportPipe) Write(piece []byte) (int, error) {
	if p.end == nil && len(piece) >= exportPiece {
		p.end = background.More()
	}
	p.exports.end()
	defer p.exports.begin()
	return p.PipeWriter.Write(piece)
}

// send sends a piece, unless the export has taken too long.
func (st *exportStream) send(w io.Writer, piece []byte) (int64, error) {
	if time.Now().After(st.pace.Until) {
		return 0, errSlowReader
	}
	sent, err := st.pace.Write(func() (int64, error) {
		n, err := w.Write(piece)
		return int64(n), err
	})
	if err != nil {
		return sent, fmt.Errorf("%w: %w", errGone, err)
	}
	return sent, nil
}

// Close releases the slot and the snapshot.
func (st *exportStream) Close() error {
	st.server.Exports.Ended[st.outcome].Add(1)
	st.server.Exports.leave(st.clients)
	st.served.Release(st.server.State.Log)
	return nil
}

// exportGate bounds exports: those that run, and those that use a core.
type exportGate struct {
	slots chan struct{} // of streams that run, most of which wait for their clients
	turns chan struct{} // of streams that read and render rows
	Ended [len(ExportOutcomes)]atomic.Int64

	Mu   sync.Mutex
	Held map[string]int // slots by client, which is an address or an app identifier
}

// newExportGate makes a gate for some streams at once. Half of the cores are for other requests: if
// all were busy with long work, the Go runtime would look for new requests only every 10 ms.
func newExportGate(streams, cores int) *exportGate {
	return &exportGate{
		slots: make(chan struct{}, streams), turns: make(chan struct{}, max(1, cores/2)), Held: map[string]int{},
	}
}

// enter takes a slot for what a request counts for, or returns the rule that it would violate. No
// client gets more than half of the slots, so that slow ones leave some to the others.
func (g *exportGate) enter(clients []string) (rule string) {
	g.Mu.Lock()
	defer g.Mu.Unlock()
	if len(g.slots) == cap(g.slots) {
		return reply.RuleExports
	}
	for _, c := range clients {
		if g.Held[c] >= max(1, cap(g.slots)/2) {
			return reply.RuleClient
		}
	}
	g.slots <- struct{}{} // has room: only enter adds to it, under the lock
	for _, c := range clients {
		g.Held[c]++
	}
	return ""
}

// leave gives back a slot.
func (g *exportGate) leave(clients []string) {
	g.Mu.Lock()
	defer g.Mu.Unlock()
	<-g.slots
	for _, c := range clients {
		if g.Held[c]--; g.Held[c] == 0 {
			delete(g.Held, c)
		}
	}
}

// begin waits for a turn, which the caller gives back with end.
func (g *exportGate) begin() { g.turns <- struct{}{} }

func (g *exportGate) end() { <-g.turns }

// Running is how many streams run.
func (g *exportGate) Running() int { return len(g.slots) }

// ExportOutcome is how an export ended.
type ExportOutcome uint8

// How an export ended.
const (
	notExported ExportOutcome = iota // refused, or only its header was asked for
	ExportSent
	ExportFailed
	ExportTimedOut
	ExportGone
)

// ExportOutcomes are the values of the label.
var ExportOutcomes = [...]string{
	ExportSent: "sent", ExportFailed: "failed", ExportTimedOut: "timeout", ExportGone: "disconnected",
}

func outcomeOf(err error) ExportOutcome {
	switch {
	case err == nil:
		return ExportSent
	case errors.Is(err, errSlowReader), errors.Is(err, os.ErrDeadlineExceeded):
		return ExportTimedOut
	case errors.Is(err, errGone):
		return ExportGone
	}
	return ExportFailed
}

// Metrics of exports.
var (
	ExportsDesc = metrics.NewDesc("hdqs_exports_running", "Exports and downloads that are being sent.")
	EndedDesc   = metrics.NewDesc("hdqs_exports_total",
		"Exports and downloads that ended: sent, failed, or the client was too slow (timeout) or went away.", "outcome")
)

// Collect collects what exports count.
func (g *exportGate) Collect(to chan<- prometheus.Metric) {
	to <- metrics.Gauge(ExportsDesc, float64(g.Running()))
	for outcome := ExportSent; int(outcome) < len(ExportOutcomes); outcome++ {
		to <- metrics.Counter(EndedDesc, g.Ended[outcome].Load(), ExportOutcomes[outcome])
	}
}
