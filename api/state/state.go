// Package state holds the snapshots that a server answers from: which is current, which replaced
// ones are kept, who reads them, and what memory they need.
package state

import (
	"cmp"
	"log/slog"
	"sync/atomic"

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
