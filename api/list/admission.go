package list

import (
	"errors"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/api/wire"
)

// Admission is where requests that do work are let in or refused: by the bytes in flight, and by
// gates with slots. docs/architecture.md shows which request passes what.
type Admission struct {
	Gate  *wire.Gate // for queries, and pages that are rendered for each request
	Slow  *wire.Gate // for answers that take long to make (slow.go)
	Pages *wire.Gate // for pages of records, before Gate

	// Computed is for sets of OData and areas, before Slow: a filter may take a tenth of a second.
	Computed *wire.Gate

	// Agents is for messages of agents, whose calls pass the gates of what they ask as well.
	Agents *wire.Gate

	budget   *wire.Budget
	refusals wire.RefusalLimiter
}

// pageWait is how long a page of records waits for those before it. People wait longer than
// programs, and on a busy machine a page can take a second.
const pageWait = 10 * time.Second

// newAdmission makes the gates. A page of records takes as long as a hundred short queries, and so
// may what is computed: they have half of the cores each. If all were busy with long work, the Go
// runtime would look for new requests only every 10 ms.
func newAdmission(o *state.Options, budget *wire.Budget, cores int) Admission {
	return Admission{
		Gate: wire.NewGate(o.Queries, o.QueueWait), Slow: wire.NewGate(o.Queries, o.QueueWait),
		Pages: wire.NewGate(max(1, cores/2), pageWait), Computed: wire.NewGate(max(1, cores/2), pageWait),
		Agents: wire.NewGate(max(1, cores/2), pageWait), budget: budget,
	}
}

// checkBytes refuses a request while the answers in flight have too many bytes.
func (d *Admission) checkBytes() error {
	if d.budget.IsFull() {
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
func (s *Lists) AnswerFailed(ctx *fasthttp.RequestCtx, err error) {
	if busy, ok := errors.AsType[*reply.Busy](err); ok {
		s.State.Shed.Add(busy.Rule)
		time.Sleep(s.Admission.refusals.Delay(time.Now()))
	}
	s.State.AnswerError(ctx, err)
}

// Limited returns a handler of a page that is rendered for each request, with a slot of a query and
// of other gates before it.
func (s *Lists) Limited(handler func(*fasthttp.RequestCtx) error, before ...*wire.Gate) fasthttp.RequestHandler {
	return s.LimitedBy(handler, append(before, s.Admission.Gate)...)
}

// LimitedBy is Limited with the slots of some gates only.
func (s *Lists) LimitedBy(handler func(*fasthttp.RequestCtx) error, gates ...*wire.Gate) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if err := s.Admission.Pass(func() error { return handler(ctx) }, gates...); err != nil {
			s.AnswerFailed(ctx, err)
		}
	}
}
