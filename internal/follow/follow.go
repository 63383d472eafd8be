// Package follow keeps a server on the snapshot that a channel of a store shows. A follower polls
// the channel, opens or downloads the snapshot, and swaps. Each step of a poll can hang, on a dead
// file system or a network that loses packets, so none is waited for longer than its timeout
// (Await).
//
// The commands give it a server and an open store. It knows neither flags nor systemd, and returns
// errors without exit codes.
package follow

import (
	"context"
	"crypto/ed25519"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hdqs/api"
	"hdqs/internal/background"
	"hdqs/internal/replica"
	"hdqs/snapshot/store"
)

// Options say what a follower follows. Server, Source and Waiter are required.
type Options struct {
	Server  *api.Server
	Source  *Source
	Waiter  *Waiter
	Timeout time.Duration // of reading the channel; 0: no limit
	Metrics *Metrics      // counts polls; nil: they are not counted

	Bulk      bool       // bulk files are served, and downloaded from a remote store
	Preopened *Preopened // the first snapshot, if it was opened before; may be nil
	Patient   bool       // First waits for a store that is away

	// Replica is the name under which the follower reports to the store and may follow a canary.
	// Empty: it does neither.
	Replica string
	Version string // of the program, for reports

	// Seen is a file for what was read of signed channels, so that a later start does not follow
	// them back either. Empty: a start follows whatever the channel shows.
	Seen string
	// Keys reads the trusted keys anew, for a store that requires signatures. It runs as a part of
	// reading the channel. nil: they stay.
	Keys func() ([]ed25519.PublicKey, error)

	// Explain adds to an error about a channel that is missing which channels there are. It runs
	// as a part of reading the channel. nil: errors stay as they are.
	Explain func(context.Context, error) error
	// Answering is called when the first snapshot is served, before its warm-up; may be nil.
	Answering func()
	// Reloading is called before a poll that SIGHUP asked for, Polled after a poll that was not
	// interrupted. Either may be nil.
	Reloading func()
	Polled    func(shown store.Pointer, err error)
}

// Follower keeps a server on the snapshot that a channel shows. Its methods are for one goroutine,
// except Heal and Refresh, which have one each.
type Follower struct {
	*Waiter
	options Options
	server  *api.Server
	source  *Source
	metrics *Metrics
	wake    chan struct{} // a send polls at once
	polled  chan struct{} // has an element after a poll
	rebuild chan struct{} // has an element when files of the store are damaged
	bulk    bulkCopy
	shown   store.Pointer
	main    replica.Version // as it was last read
	canary  replica.Version // the same

	interval time.Duration // of polls
	reported reported
}

// New returns a follower that has not polled yet.
func New(o Options) *Follower {
	if o.Source.Copy != nil {
		o.Source.Remote.Timeout = o.Timeout
		if o.Source.Canary != nil {
			o.Source.Canary.Beside = background.Run
		}
		o.Source.Copy.Beside = background.Run
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics(prometheus.NewRegistry())
	}
	if o.Explain == nil {
		o.Explain = func(_ context.Context, err error) error { return err }
	}
	if o.Reloading == nil {
		o.Reloading = func() {}
	}
	if o.Polled == nil {
		o.Polled = func(store.Pointer, error) {}
	}
	return &Follower{
		Waiter: o.Waiter, options: o, server: o.Server, source: o.Source, metrics: o.Metrics,
		wake: make(chan struct{}, 1), polled: make(chan struct{}, 1), rebuild: make(chan struct{}, 1),
	}
}

// Shown is what the served snapshot's channel said of it; zero before the first.
func (f *Follower) Shown() store.Pointer { return f.shown }

// Poll serves what the channel shows if that is not served already. On an error the served snapshot
// stays. Each poll is counted.
func (f *Follower) Poll(ctx context.Context) (changed bool, err error) {
	f.metrics.Begin()
	c, changed, err := f.poll(ctx)
	if err == nil {
		f.metrics.setCanary(c.isCanary && c.ID != c.Canary.Of.ID) // one that has ended shows what it was of
	}
	f.server.State.Polled(f.metrics.end(changed, err, ctx.Err() != nil))
	if !errors.Is(err, ErrInterrupted) { // by another poll, which will report
		f.report(ctx, c, err)
	}
	f.fetchBulk(ctx, f.shown.ID)
	return changed, err
}

func (f *Follower) poll(ctx context.Context) (c choice, changed bool, err error) {
	before, main, canary := f.source.traffic(), f.main, f.canary
	c, err = await(ctx, f.Waiter, Step[choice]{
		Name: "reading channel " + f.source.ChannelName, Timeout: f.options.Timeout,
		Run: func(ctx context.Context) (choice, error) { return f.choose(ctx, main, canary) },
	})
	if err != nil {
		return choice{}, false, atStage(stageChannel, err)
	}
	forgotten := f.remember(c)                                     // serving goes on: only a later start would not know
	shown, earlier := f.shown, f.server.State.Snapshots.Snapshot() // a handle for a step that may be abandoned
	next, err := await(ctx, f.Waiter, Step[found]{
		Name: "fetching or opening snapshot " + c.ID,
		Run: func(ctx context.Context) (found, error) {
			defer closeSnapshot(earlier)
			return f.find(ctx, c, shown, earlier)
		},
		Discard: func(n found) { closeSnapshot(n.snapshot); n.endStep() },
	})
	defer func() { next.endStep() }()
	f.countFetched(next.fetched)
	if err != nil {
		return c, false, atStage(stageSegments, err)
	}
	if changed, err = f.show(c.Pointer, next); err != nil {
		return c, changed, atStage(stageOpen, err)
	}
	if next.fetched != nil {
		err = f.keep(c.from, next.fetched, f.source.traffic().Minus(before))
	}
	if err = errors.Join(err, forgotten); err != nil {
		return c, changed, atStage(stageKeep, err)
	}
	return c, changed, atStage(stageChannel, c.fault)
}

// readChannel reads a channel by its copy, or that of a local store.
func (f *Follower) readChannel(ctx context.Context, from *replica.Replica, name string) (v replica.Version, err error) {
	if from != nil {
		return from.Read(ctx)
	}
	v.Channel, err = f.source.Store.Channels.History(name)
	return v, err
}

func (f *Follower) pollAndLog(ctx context.Context) error {
	defer func() {
		select {
		case f.polled <- struct{}{}:
		default:
		}
	}()
	before := f.shown.ID
	f.again = false
	changed, err := f.Poll(ctx)
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, ErrInterrupted):
		f.logInterrupted()
	case err != nil:
		f.log.Error("another snapshot could not be served; the old one stays", "serving", before, "error", err)
	case changed:
		f.log.Info("snapshot swapped", "from", before, "to", f.shown.ID,
			"warm_up", f.server.State.WarmUp().Took.Round(time.Millisecond))
	}
	return err
}

// nextPoll fires after 90 to 110 % of the interval, which spreads the polls of many replicas. With
// 0 it never fires.
func nextPoll(after time.Duration) <-chan time.Time {
	if after == 0 {
		return nil
	}
	return time.After(after*9/10 + rand.N(after/5+1))
}

// Follow polls at the interval, at every SIGHUP and when woken, until ctx ends.
func (f *Follower) Follow(ctx context.Context, interval time.Duration) {
	f.interval = interval
	for {
		if f.again {
			f.options.Reloading()
		} else {
			select {
			case <-ctx.Done():
				return
			case <-f.hangups:
				f.options.Reloading()
			case <-f.wake:
			case <-nextPoll(interval):
			}
		}
		if ctx.Err() != nil {
			return
		}
		if err := f.pollAndLog(ctx); !f.again && ctx.Err() == nil {
			f.options.Polled(f.shown, err)
		}
	}
}

// Refresh builds at an interval, and when files of the store are damaged and stay so. What was
// built without an error is polled at once. build reports errors itself.
func (f *Follower) Refresh(ctx context.Context, interval time.Duration, build func() error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-nextPoll(interval):
		case <-f.rebuild:
		}
		if build() == nil {
			select {
			case f.wake <- struct{}{}:
			default:
			}
		}
	}
}
