package state

import (
	"cmp"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/metrics"
	"hdqs/api/reply"
	"hdqs/api/wire"
)

// State is what a server serves, and what it counts.
type State struct {
	Snapshots *Snapshots
	Log       *slog.Logger
	Options   Options
	Faults    *wire.Log
	Requests  *metrics.Requests
	Budget    *wire.Budget
	Shed      reply.ShedCounts // requests and connections that were refused
	Shares    Shares           // of memory
	Hooks     Hooks

	FaultForms []FaultForm // set before the first request

	History atomic.Pointer[[]*Change] // of the snapshots that the channel has shown

	NoWarmUp  atomic.Bool // set by EndWarmUp
	CutWarmUp atomic.Bool // set by InterruptWarmUp, until the next Swap

	Draining atomic.Bool
	Step     atomic.Pointer[string] // of a start
	polled   atomic.Pointer[Poll]
	Panics   atomic.Int64
	refused  atomic.Int64 // snapshots that did not fit in memory
}

// Hooks are what the state of the server calls of what stands on it.
type Hooks struct {
	Warm func(next *Served, earlier *Bound) error // answers requests from a snapshot before it is served
}

// FaultForm is how errors are written below a path, such as those of a standard: also those that
// are found before the handler of the path is called. Root has no slash at its end.
type FaultForm struct {
	Root  string
	Write func(ctx *fasthttp.RequestCtx, err error)
}

// Poll is a poll of the store for another snapshot.
type Poll struct {
	At      time.Time `json:"at"`
	Outcome string    `json:"outcome"`
	Reason  string    `json:"reason,omitempty"` // of a failure
}

// New returns a state without a snapshot. The caller sets Requests and Hooks before the first Swap.
func New(o Options) *State {
	log := cmp.Or(o.Logger, slog.Default())
	s := &State{Log: log, Options: o, Snapshots: &Snapshots{Log: log}, Shares: NewShares(&o), Faults: wire.NewLog(log)}
	if o.MemoryLimit > 0 {
		s.Snapshots.open.whole, s.Snapshots.open.heapLimit = HeapLimit(o.MemoryLimit), o.HeapLimit
	}
	s.Budget = wire.NewBudget(s.Shares.Inflight)
	return s
}
