package follow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hdqs/api/state"
	"hdqs/bulk"
	"hdqs/internal/background"
	"hdqs/internal/memory"
	"hdqs/internal/objects"
	"hdqs/internal/replica"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// found is a snapshot that is ready to be served.
type found struct {
	snapshot *store.Snapshot      // nil if the server has it already
	figures  state.KeptFigures    // of its publication
	changes  []*state.Change      // by it and by those before it
	fetched  *replica.FetchResult // nil for a local store
	end      func()               // of the step of a swap that began with opening; nil if there was none
}

func (n found) endStep() {
	if n.end != nil {
		n.end()
	}
}

// find opens the snapshot of a channel, which it downloads first from a remote store. It may be
// abandoned, so it reads and changes no field of the follower that changes.
func (f *Follower) find(
	ctx context.Context, v choice, shown store.Pointer, earlier *store.Snapshot,
) (n found, err error) {
	defer func() {
		if err != nil {
			n.endStep()
			n.end = nil
		} else if n.snapshot != nil {
			n.figures = f.figuresOf(v.Pointer)
			var remote objects.Store
			if f.source.Remote != nil {
				remote = f.source.Remote
			}
			background.Beside(func() {
				n.changes = f.source.changesOf(ctx, remote, v.Channel, shown.ID, n.snapshot, earlier)
			})
		}
	}()
	if f.source.Remote != nil {
		if n.fetched, err = v.from.FetchVersion(ctx, v.Version, false); err != nil {
			return n, err
		}
	}
	if earlier != nil && v.ID != shown.ID {
		n.end = background.BeginStep() // until it is served, since each end of a step collects garbage
	}
	if f.source.Remote == nil {
		n.snapshot, err = f.open(v.Pointer, shown, earlier)
		return n, err
	}
	if n.snapshot, err = f.open(v.Pointer, shown, earlier); errors.Is(err, snapshot.ErrCorrupt) {
		// Either the local copy of a segment is damaged, which this repairs, or the remote one, and
		// this fails.
		f.log.Warn("the local copy of the snapshot is damaged; downloading damaged segments again", "error", err)
		if n.fetched, err = v.from.FetchVersion(ctx, v.Version, true); err == nil {
			n.snapshot, err = f.open(v.Pointer, shown, earlier)
		}
	}
	return n, err
}

// figuresOf reads the figures that a publication has kept. Without them they are computed.
func (f *Follower) figuresOf(p store.Pointer) state.KeptFigures {
	data, err := f.source.Store.Snapshots.Figures(p)
	if err != nil {
		if p.Figures != "" {
			f.log.Warn("the figures of the publication cannot be read, and are computed",
				"snapshot", p.ID, "error", err)
		}
		return state.KeptFigures{}
	}
	return state.KeptFigures{SHA256: p.Figures, Data: data}
}

// open opens a snapshot of the local store. It returns nil if it is the one that is shown.
func (f *Follower) open(p, shown store.Pointer, earlier *store.Snapshot) (*store.Snapshot, error) {
	if p.ID == shown.ID && p.SHA256 == shown.SHA256 && p.Figures == shown.Figures {
		return nil, nil
	}
	if earlier == nil {
		if snap := f.options.Preopened.take(p); snap != nil {
			return snap, nil
		}
	}
	if m, err := f.source.Store.Snapshots.Published(p); err == nil { // OpenPointer reports another error
		if err := f.server.State.RoomFor(m); err != nil {
			return nil, swapError(p.ID, err)
		}
	}
	if earlier == nil {
		return f.source.Store.Snapshots.OpenPointer(p, nil)
	}
	var snap *store.Snapshot
	var err error
	background.Beside(func() { snap, err = f.source.Store.Snapshots.OpenPointer(p, earlier) })
	return snap, err
}

// show serves a snapshot. If it is served already but was published again, because the channel
// moved away and back between two polls, only its time of publication changes.
func (f *Follower) show(p store.Pointer, next found) (changed bool, err error) {
	snap := next.snapshot
	if snap == nil {
		if !p.PublishedAt.Equal(f.shown.PublishedAt) {
			f.server.State.Announce(p.PublishedAt)
			f.shown = p
		}
		f.serveBulk(f.shown.ID)
		return false, nil
	}
	f.ReportStep("warming up snapshot " + p.ID)
	release := state.Release{
		Snapshot: snap, PublishedAt: p.PublishedAt, Changes: next.changes, Figures: next.figures,
		Answering: f.options.Answering,
	}
	if f.shown.ID == "" {
		err = f.swap(release)
	} else {
		background.Beside(func() { err = f.swap(release) })
	}
	if err != nil {
		return false, errors.Join(swapError(p.ID, err), snap.Close())
	}
	f.shown = p
	f.serveBulk(f.shown.ID)
	return true, nil
}

// swap swaps, and SIGHUP ends the warm-up before it: another poll is due.
func (f *Follower) swap(r state.Release) error {
	swapped := make(chan struct{})
	var listening sync.WaitGroup
	listening.Go(func() {
		select {
		case <-f.hangups:
			f.again = true
			f.server.State.InterruptWarmUp()
		case <-swapped:
		}
	})
	err := f.server.State.Swap(r)
	close(swapped)
	listening.Wait()
	return err
}

// RefusedError is about a snapshot that the server cannot serve.
type RefusedError struct {
	ID  string
	Err error
}

// Error names the snapshot.
func (e *RefusedError) Error() string { return "snapshot " + e.ID + ": " + e.Err.Error() }

// Unwrap returns why.
func (e *RefusedError) Unwrap() error { return e.Err }

// swapError sets the stage of a snapshot that the server refused, and says what to do about it.
func swapError(id string, err error) error {
	if fault, ok := errors.AsType[*state.MemoryError](err); ok {
		return atStage(stageMemory, fmt.Errorf(
			"%w: raise the limit of the container or --memory-limit to %s, or lower --body-cache or "+
				"--max-inflight-bytes",
			fault, memory.Size(fault.Enough())))
	}
	return &RefusedError{id, err}
}

// keep makes a served snapshot the one that is served after a restart without the remote store.
func (f *Follower) keep(from *replica.Replica, fetched *replica.FetchResult, t objects.Traffic) error {
	if err := from.Keep(fetched.Version); err != nil {
		return err
	}
	if fetched.Changed {
		f.log.Info("snapshot fetched", "snapshot", f.shown.ID,
			"segments", fetched.Files, "segment_bytes", fetched.Bytes,
			"by_delta", fetched.Deltas, "delta_bytes", fetched.DeltaBytes,
			"requests", t.Requests, "received_bytes", t.Received)
		f.tidy()
	}
	return nil
}

// countFetched counts what a poll has downloaded of segments; nil is nothing.
func (f *Follower) countFetched(fetched *replica.FetchResult) {
	if fetched == nil {
		return
	}
	f.metrics.count(&fetched.Fetched)
	if fetched.Fault != nil {
		f.log.Warn("deltas could not be used; whole segments were downloaded", "deltas", fetched.Fallbacks,
			"one", fetched.Fault)
	}
}

// The copy of a remote store keeps the snapshot before the served one. The grace protects files of
// other commands that use the same directory.
const (
	copyKeeps = 1
	copyGrace = time.Hour
)

// tidy removes unused snapshots from the copy.
func (f *Follower) tidy() {
	ctx := context.Background() // for files of this machine
	lock, err := f.source.Store.Lock("serve: collection")
	if errors.Is(err, store.ErrLocked) {
		return // the next change calls tidy again
	}
	if err == nil {
		defer lock.Release()
		o := store.CollectOptions{Keep: copyKeeps, Grace: copyGrace}
		var removed *store.Collected
		if removed, err = store.Collect(ctx, f.source.Store.Files(), o); err == nil {
			_, err = bulk.Collect(ctx, f.source.Store.Files(), removed.Manifests, o)
		}
	}
	if err != nil {
		f.log.Warn("old snapshots could not be removed", "store", f.source.Store.Dir(), "error", err)
	}
}
