package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"hdqs/api"
	"hdqs/internal/memory"
	"hdqs/internal/replica"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// follower keeps the server on the snapshot that the store's channel shows.
type follower struct {
	*waiter
	server  *api.Server
	store   *openStore
	timeout time.Duration // of reading the channel
	wake    chan struct{} // a send looks at once
	looked  chan struct{} // has an element after a look
	rebuild chan struct{} // has an element when files of the store are damaged
	notify  *notifier
	looks   *lookMetrics
	bulk    bulkCopy
	ahead   *ahead // what was opened before the first look

	answering func()        // called when the first snapshot is served, before its warm-up; may be nil
	opened    time.Duration // how long the first snapshot took
	shown     store.Pointer
}

func newFollower(
	server *api.Server, st *openStore, w *waiter, timeout time.Duration, looks *lookMetrics,
) *follower {
	if st.copy != nil {
		st.copy.Timeout = timeout
	}
	return &follower{
		waiter: w, server: server, store: st, timeout: timeout, looks: looks,
		wake: make(chan struct{}, 1), looked: make(chan struct{}, 1), rebuild: make(chan struct{}, 1),
	}
}

// found is a snapshot that is ready to be served.
type found struct {
	snapshot *store.Snapshot      // nil if the server has it already
	changes  []*api.Change        // by it and by those before it
	fetched  *replica.FetchResult // nil for a local store
	end      func()               // of the step of a swap that began with opening; nil if there was none
}

func (n found) endStep() {
	if n.end != nil {
		n.end()
	}
}

// look serves what the channel shows if that is not served already. On an error the served snapshot
// stays. Each look is counted.
func (f *follower) look(ctx context.Context) (changed bool, err error) {
	f.looks.begin()
	changed, err = f.lookUncounted(ctx)
	f.server.Looked(f.looks.end(changed, err, ctx.Err() != nil))
	f.fetchBulk(ctx, f.shown.ID)
	return changed, err
}

func (f *follower) lookUncounted(ctx context.Context) (changed bool, err error) {
	before := f.store.traffic()
	version, err := await(ctx, f.waiter, step[replica.Version]{
		name: "reading channel " + f.store.channel, timeout: f.timeout, run: f.readChannel,
	})
	if err != nil {
		return false, atStage(stageChannel, storeError(err))
	}
	shown, earlier := f.shown, f.server.Snapshot() // a handle for a step that may be abandoned
	next, err := await(ctx, f.waiter, step[found]{
		name: "fetching or opening snapshot " + version.ID,
		run: func(ctx context.Context) (found, error) {
			defer closeSnapshot(earlier)
			return f.find(ctx, version, shown, earlier)
		},
		discard: func(n found) { closeSnapshot(n.snapshot); n.endStep() },
	})
	defer func() { next.endStep() }()
	if err != nil {
		return false, atStage(stageSegments, storeError(err))
	}
	if changed, err = f.show(version.Pointer, next); err != nil || next.fetched == nil {
		return changed, atStage(stageOpen, err)
	}
	return changed, atStage(stageKeep, f.keep(next.fetched, f.store.traffic().Minus(before)))
}

// readChannel reads the channel.
func (f *follower) readChannel(ctx context.Context) (v replica.Version, err error) {
	if f.store.remote != nil {
		v, err = f.store.copy.Read(ctx)
	} else {
		v.Channel, err = f.store.History(f.store.channel)
	}
	return v, f.store.channelError(ctx, err)
}

// find opens the snapshot of a channel, which it downloads first from a remote store. It may be
// abandoned, so it reads and changes no field of the follower that changes.
func (f *follower) find(
	ctx context.Context, v replica.Version, shown store.Pointer, earlier *store.Snapshot,
) (n found, err error) {
	defer func() {
		if err != nil {
			n.endStep()
			n.end = nil
		} else if n.snapshot != nil {
			besideRequests(func() {
				n.changes = f.store.changesOf(v.Channel, shown.ID, n.snapshot, earlier)
			})
		}
	}()
	if f.store.remote != nil {
		if n.fetched, err = f.store.copy.FetchVersion(ctx, v, false); err != nil {
			return n, err
		}
	}
	if earlier != nil && v.ID != shown.ID {
		n.end = beginStep() // until it is served, since each end of a step collects garbage
	}
	if f.store.remote == nil {
		n.snapshot, err = f.open(v.Pointer, shown, earlier)
		return n, err
	}
	if n.snapshot, err = f.open(v.Pointer, shown, earlier); errors.Is(err, snapshot.ErrCorrupt) {
		// Either the local copy of a segment is damaged, which this repairs, or the remote one, and
		// this fails.
		f.log.Warn("the local copy of the snapshot is damaged; downloading damaged segments again", "error", err)
		if n.fetched, err = f.store.copy.FetchVersion(ctx, v, true); err == nil {
			n.snapshot, err = f.open(v.Pointer, shown, earlier)
		}
	}
	return n, err
}

// open opens a snapshot of the local store. It returns nil if it is the one that is shown.
func (f *follower) open(p, shown store.Pointer, earlier *store.Snapshot) (*store.Snapshot, error) {
	if err := f.store.CheckStep(shown, p); err != nil {
		return nil, atStage(stageChannel, err)
	}
	if p.ID == shown.ID && p.SHA256 == shown.SHA256 {
		return nil, nil
	}
	if earlier == nil {
		if snap := f.ahead.take(p); snap != nil {
			return snap, nil
		}
		return f.store.OpenPointer(p, nil)
	}
	var snap *store.Snapshot
	var err error
	besideRequests(func() { snap, err = f.store.OpenPointer(p, earlier) })
	return snap, err
}

// show serves a snapshot. If it is served already but was published again, because the channel
// moved away and back between two looks, only its time of publication changes.
func (f *follower) show(p store.Pointer, next found) (changed bool, err error) {
	snap := next.snapshot
	if snap == nil {
		if !p.PublishedAt.Equal(f.shown.PublishedAt) {
			f.server.Announce(p.PublishedAt)
			f.shown = p
		}
		f.lookForBulk(f.shown.ID)
		return false, nil
	}
	f.reportStep("warming up snapshot " + p.ID)
	release := api.Release{
		Snapshot: snap, PublishedAt: p.PublishedAt, Changes: next.changes, Answering: f.answering,
	}
	if f.shown.ID == "" {
		err = f.swap(release)
	} else {
		besideRequests(func() { err = f.swap(release) })
	}
	if err != nil {
		return false, errors.Join(swapError(p.ID, err), snap.Close())
	}
	f.shown = p
	f.lookForBulk(f.shown.ID)
	if err := f.store.KeepLinks(snap.Manifest); err != nil {
		f.log.Warn("links to files of earlier snapshots could not be removed", "error", err)
	}
	return true, nil
}

// swap swaps, and SIGHUP ends the warm-up before it: another look is due.
func (f *follower) swap(r api.Release) error {
	swapped := make(chan struct{})
	var listening sync.WaitGroup
	listening.Go(func() {
		select {
		case <-f.hangups:
			f.again = true
			f.server.InterruptWarmUp()
		case <-swapped:
		}
	})
	err := f.server.Swap(r)
	close(swapped)
	listening.Wait()
	return err
}

// swapError sets the exit code and the stage of a snapshot that the server refused.
func swapError(id string, err error) error {
	if fault, ok := errors.AsType[*api.MemoryError](err); ok {
		return atStage(stageMemory, exitWith(exitFailed, fmt.Errorf(
			"%w: raise the limit of the container or --memory-limit to %s, or lower --body-cache or "+
				"--max-inflight-bytes",
			fault, memory.Size(fault.Enough()))))
	}
	return exitWith(exitVerification, fmt.Errorf("snapshot %s: %w", id, err))
}

func closeSnapshot(s *store.Snapshot) {
	if s != nil {
		_ = s.Close() // of a mapping, which can fail only if it is not one
	}
}

// keep makes a served snapshot the one that is served after a restart without the remote store.
func (f *follower) keep(fetched *replica.FetchResult, t replica.Traffic) error {
	if err := f.store.copy.Keep(fetched.Version); err != nil {
		return err
	}
	if fetched.Changed {
		f.log.Info("snapshot fetched", "snapshot", f.shown.ID,
			"segments", fetched.Segments, "segment_bytes", fetched.Bytes,
			"requests", t.Requests, "received_bytes", t.Received)
		f.tidy()
	}
	return nil
}

// The copy of a remote store keeps the snapshot before the served one. The grace protects files of
// other commands that use the same directory.
const (
	copyKeeps = 1
	copyGrace = time.Hour
)

// tidy removes unused snapshots from the copy.
func (f *follower) tidy() {
	release, err := f.store.lock("serve: collection")
	if errors.Is(err, store.ErrLocked) {
		return // the next change calls tidy again
	}
	if err == nil {
		defer release()
		_, err = collectAll(f.store.Inventory(), store.CollectOptions{Keep: copyKeeps, Grace: copyGrace})
	}
	if err != nil {
		f.log.Warn("old snapshots could not be removed", "store", f.store.Dir(), "error", err)
	}
}

// Pauses of a start between two looks at a store that is away.
const (
	shortestWait        = time.Second
	longestWaitForStore = time.Minute
)

// first serves the first snapshot: the kept one of a remote store, which need not answer for that,
// or else what the channel shows. A service of systemd waits for a store that is away; otherwise
// that is an error, so that a wrong address is seen at once.
func (f *follower) first(ctx context.Context) error {
	if f.store.remote != nil {
		f.reportStep("opening the kept snapshot")
		switch p, err := f.showKept(); {
		case err == nil:
			f.log.Info("serving the kept snapshot until the store has answered",
				"snapshot", p.ID, "published", p.PublishedAt)
			f.wake <- struct{}{} // the first look
			return nil
		case !isAbsent(err):
			f.log.Warn("the kept snapshot cannot be served", "store", f.store.Dir(), "error", err)
		}
	}
	for pause := shortestWait; ; {
		f.again = false
		_, err := f.look(ctx)
		away := errors.Is(err, replica.ErrUnavailable) || errors.Is(err, errNoAnswer)
		switch {
		case err == nil || ctx.Err() != nil:
			return err
		case f.again:
			f.logInterrupted()
		case away && os.Getenv("NOTIFY_SOCKET") != "":
			f.log.Error("no snapshot was kept, and the store is unavailable", "next_try", pause.String(), "error", err)
			f.reportStep("waiting for the store: " + err.Error())
			select {
			case <-ctx.Done():
			case <-f.hangups:
			case <-time.After(pause):
			}
			pause = min(2*pause, longestWaitForStore)
		default:
			return err
		}
	}
}

// showKept serves the snapshot that was last kept of a remote store. If there is none the error is
// fs.ErrNotExist.
func (f *follower) showKept() (store.Pointer, error) {
	p, err := f.store.copy.Last()
	if err != nil {
		return p, err
	}
	snap, err := f.open(p, store.Pointer{}, nil)
	if err == nil {
		kept, _ := f.store.History(f.store.channel) // for changes only
		_, err = f.show(p, found{snapshot: snap, changes: f.store.changesOf(kept, "")})
	}
	return p, err
}

// firstAnswered is first for commands that want what the channel shows now. If the remote store has
// no usable snapshot, the last kept one is served.
func (f *follower) firstAnswered(ctx context.Context) error {
	_, err := f.look(ctx)
	if err == nil || f.store.remote == nil || ctx.Err() != nil {
		return err
	}
	last, keptErr := f.showKept()
	if isAbsent(keptErr) {
		return err
	}
	if keptErr != nil {
		return errors.Join(err, fmt.Errorf("and the kept snapshot: %w", keptErr))
	}
	reason := "the store has no snapshot that can be served"
	if errors.Is(err, replica.ErrUnavailable) || errors.Is(err, errNoAnswer) {
		reason = "the store is unavailable"
	}
	f.log.Error(reason+"; serving the last good one", "serving", last.ID, "published", last.PublishedAt, "error", err)
	return nil
}

func (f *follower) lookAndLog(ctx context.Context) error {
	defer func() {
		select {
		case f.looked <- struct{}{}:
		default:
		}
	}()
	before := f.shown.ID
	f.again = false
	changed, err := f.look(ctx)
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, errInterrupted):
		f.logInterrupted()
	case err != nil:
		f.log.Error("another snapshot could not be served; the old one stays", "serving", before, "error", err)
	case changed:
		f.log.Info("snapshot swapped", "from", before, "to", f.shown.ID,
			"warm_up", f.server.WarmUp().Took.Round(time.Millisecond))
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

// follow looks at the interval, at every SIGHUP and when woken.
func (f *follower) follow(ctx context.Context, interval time.Duration) {
	for {
		if f.again {
			f.notify.reloading()
		} else {
			select {
			case <-ctx.Done():
				return
			case <-f.hangups:
				f.notify.reloading()
			case <-f.wake:
			case <-nextPoll(interval):
			}
		}
		if ctx.Err() != nil {
			return
		}
		if err := f.lookAndLog(ctx); !f.again && ctx.Err() == nil {
			f.notify.ready(f, err)
		}
	}
}
