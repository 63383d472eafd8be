package follow

import (
	"context"
	"crypto/ed25519"
	"sync"
	"sync/atomic"
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
// except Refresh, which has one of its own.
type Follower struct {
	*Waiter
	options Options
	server  *api.Server
	source  *Source
	metrics *Metrics
	wake    chan struct{} // a send polls at once
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
		wake: make(chan struct{}, 1),
	}
}

// Shown is what the served snapshot's channel said of it; zero before the first.
func (f *Follower) Shown() store.Pointer { return f.shown }

// readChannel reads a channel by its copy, or that of a local store.
func (f *Follower) readChannel(ctx context.Context, from *replica.Replica, name string) (v replica.Version, err error) {
	if from != nil {
		return from.Read(ctx)
	}
	v.Channel, err = f.source.Store.Channels.History(name)
	return v, err
}

// choice is the channel that a replica follows: the main one or its canary.
type choice struct {
	replica.Version
	from     *replica.Replica // nil for a local store
	main     replica.Version  // as it was read, whether it is followed or not
	canary   replica.Version  // the same
	isCanary bool
	fault    error // of a canary that counts: the choice was made without what the store has of it
}

// bulkCopy is what a follower does about the bulk files of a remote store.
type bulkCopy struct {
	running atomic.Bool  // a download is
	have    atomic.Value // id of the snapshot whose files were downloaded last
	damaged atomic.Bool  // some of them cannot be served
	serve   sync.Mutex
	said    sync.Once // that there are none
}

// reported is what a replica has said of itself.
type reported struct {
	started time.Time
	since   time.Time
	shown   store.Pointer
	last    []byte
	at      time.Time // of last
	failure string    // that was logged
}
