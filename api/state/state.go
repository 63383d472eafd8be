// Package state holds the snapshots that a server answers from: which is current, which replaced
// ones are kept, who reads them, what memory they need, and which of their segments may be damaged.
package state

import (
	"cmp"
	"log/slog"
	"sync/atomic"

	"hdqs/api/metrics"
	"hdqs/api/reply"
	"hdqs/api/wire"
)

// State is what a server serves, and what it counts. Package list embeds it.
type State struct {
	Options  Options
	Log      *slog.Logger
	Faults   *wire.Log
	Requests *metrics.Requests
	Budget   *wire.Budget
	Shed     reply.ShedCounts // requests and connections that were refused
	Shares   Shares           // of memory
	Hooks    Hooks

	Current  atomic.Pointer[Served]
	Retained Retained
	History  atomic.Pointer[[]*Change] // of the snapshots that the channel has shown
	open     OpenSnapshots
	Suspects Suspects

	NoWarmUp  atomic.Bool // set by EndWarmUp
	CutWarmUp atomic.Bool // set by InterruptWarmUp, until the next Swap

	Draining atomic.Bool
	Step     atomic.Pointer[string] // of a start
	looked   atomic.Pointer[Look]
	Panics   atomic.Int64
	refused  atomic.Int64 // snapshots that did not fit in memory
}

// New returns a state without a snapshot. The caller sets Requests and Hooks before the first Swap.
func New(o Options) *State {
	s := &State{Options: o, Log: cmp.Or(o.Logger, slog.Default()), Shares: NewShares(&o)}
	s.Faults = wire.NewLog(s.Log)
	s.Budget = wire.NewBudget(s.Shares.Inflight)
	s.Suspects.Wake = make(chan struct{}, 1)
	return s
}
