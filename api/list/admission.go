package list

import (
	"errors"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/encode"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/api/wire"
)

// Admission is where requests that do work are let in or refused: by the bytes in flight, and by
// gates with slots. docs/architecture.md shows which request passes what.
type Admission struct {
	Gate  *wire.Gate // for queries, and pages that are rendered for each request
	Slow  *wire.Gate // for answers that take long to make
	Pages *wire.Gate // for pages of records, before Gate

	// Computed is for sets of OData and areas, before Slow: a filter may take a tenth of a second.
	Computed *wire.Gate

	// Agents is for messages of agents, whose calls pass the gates of what they ask as well.
	Agents *wire.Gate

	state    *state.State
	refusals wire.RefusalLimiter
}

// pageWait is how long a page of records waits for those before it. People wait longer than
// programs, and on a busy machine a page can take a second.
const pageWait = 10 * time.Second

// newAdmission makes the gates. A page of records takes as long as a hundred short queries, and so
// may what is computed: they have half of the cores each. If all were busy with long work, the Go
// runtime would look for new requests only every 10 ms.
func newAdmission(s *state.State, cores int) Admission {
	o := &s.Options
	return Admission{
		Gate: wire.NewGate(o.Queries, o.QueueWait), Slow: wire.NewGate(o.Queries, o.QueueWait),
		Pages: wire.NewGate(max(1, cores/2), pageWait), Computed: wire.NewGate(max(1, cores/2), pageWait),
		Agents: wire.NewGate(max(1, cores/2), pageWait), state: s,
	}
}

// checkBytes refuses a request while the answers in flight have too many bytes.
func (d *Admission) checkBytes() error {
	if d.state.Budget.IsFull() {
		return &reply.Busy{Rule: reply.RuleBytes}
	}
	return nil
}

// Pass does work with a slot of each gate, or refuses it.
func (d *Admission) Pass(work func() error, gates ...*wire.Gate) error {
	if err := d.checkBytes(); err != nil {
		return err
	}
	for _, g := range gates {
		if !g.Enter(true) {
			return &reply.Busy{Rule: reply.RuleQueries}
		}
		defer g.Leave()
	}
	return work()
}

// AnswerFailed answers with an error. Refusals are counted and sent at a limited pace; at this
// point the request holds no slot, bytes or snapshot.
func (d *Admission) AnswerFailed(ctx *fasthttp.RequestCtx, err error) {
	if busy, ok := errors.AsType[*reply.Busy](err); ok {
		d.state.Shed.Add(busy.Rule)
		time.Sleep(d.refusals.Delay(time.Now()))
	}
	d.state.AnswerError(ctx, err)
}

// OfPages are the gates of a page that is rendered for each request: that of queries, after others.
func (d *Admission) OfPages(before ...*wire.Gate) []*wire.Gate { return append(before, d.Gate) }

// A page of at least manyRuns runs of rows is compressed row by row, and in zstd every page is
// compressed whole. With at least ManyCoded rows that takes long.
const (
	manyRuns  = 32
	ManyCoded = 1000
)

// isExpensive reports whether a page takes long before its first byte can be sent: a millisecond or
// more for 10,000 rows. Uncompressed pages do not, as they are made while they are sent
// (stream.go).
func (a *Reply) isExpensive() bool {
	if a.Coding == encode.Identity || a.Page.Rows < ManyCoded {
		return false
	}
	return a.Coding == encode.Zstd || len(a.Page.Ranges) >= manyRuns
}

// enterGate takes a slot for a request: one of those for long answers if it computes records.
func (d *Admission) enterGate(a *Reply) error {
	gate, many := d.Gate, a.Request.Question.Limit >= manyRows
	if a.RecordSource != nil {
		gate, many = d.Slow, true
	}
	if !gate.Enter(many) {
		return &reply.Busy{Rule: reply.RuleQueries}
	}
	a.gate = gate
	return nil
}

// moveToSlowGate exchanges the slot of a query for one of the slots for long answers if its page
// takes long, so that short queries find a slot. A warm-up has no slot.
func (d *Admission) moveToSlowGate(a *Reply) error {
	if a.gate != d.Gate || !a.isExpensive() {
		return nil
	}
	a.leaveGate()
	if !d.Slow.Enter(true) {
		return &reply.Busy{Rule: reply.RuleQueries}
	}
	a.gate = d.Slow
	return nil
}

// leaveGate gives back the slot of a request, if it has one.
func (a *Reply) leaveGate() {
	if a.gate != nil {
		a.gate.Leave()
		a.gate = nil
	}
}

// appendCoded appends a page in a content coding.
func (a *Reply) appendCoded(dst []byte) []byte {
	form := a.Form(a.List)
	if !a.isExpensive() {
		return form.AppendCoded(dst, a.Coding, a.Page.Ranges)
	}
	a.turn.BeginLong()
	defer a.turn.EndLong()
	return form.AppendCodedPausing(dst, a.Coding, a.Page.Ranges, a.Pause)
}
