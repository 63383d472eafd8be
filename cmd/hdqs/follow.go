package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"

	"hdqs/api"
	"hdqs/internal/replica"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// follower keeps the server on the snapshot that the store's channel shows.
type follower struct {
	server *api.Server
	store  *openStore
	log    *slog.Logger
	wake   chan struct{} // a send polls at once

	shown  store.Pointer
	served *store.Snapshot // open while it is the current one of the server
}

func newFollower(server *api.Server, st *openStore, log *slog.Logger) *follower {
	return &follower{server: server, store: st, log: log, wake: make(chan struct{}, 1)}
}

// poll serves what the channel shows if that is not served already. On an error the served snapshot
// stays.
func (f *follower) poll(ctx context.Context) (changed bool, err error) {
	if f.store.remote != nil {
		return f.pollRemote(ctx)
	}
	p, err := f.store.Channel(f.store.channel)
	if err != nil {
		return false, storeError(err)
	}
	return f.show(p)
}

// show opens a snapshot of the local store and serves it. If it is served already but was published
// again, because the channel moved away and back between two polls, only its time of publication
// changes.
func (f *follower) show(p store.Pointer) (changed bool, err error) {
	if err := f.store.CheckStep(f.shown, p); err != nil {
		return false, storeError(err)
	}
	if p.ID == f.shown.ID && p.SHA256 == f.shown.SHA256 {
		if !p.PublishedAt.Equal(f.shown.PublishedAt) {
			f.server.Announce(p.PublishedAt)
			f.shown = p
		}
		return false, nil
	}
	snap, err := f.store.OpenPointer(p, f.served)
	if err != nil {
		return false, storeError(err)
	}
	if err := f.server.Swap(api.Release{Snapshot: snap, PublishedAt: p.PublishedAt}); err != nil {
		return false, exitWith(exitVerification, errors.Join(fmt.Errorf("snapshot %s: %w", p.ID, err), snap.Close()))
	}
	f.shown, f.served = p, snap
	return true, nil
}

// pollRemote downloads what the remote channel shows, and keeps it once it is served.
func (f *follower) pollRemote(ctx context.Context) (changed bool, err error) {
	before := f.store.remote.Traffic()
	fetched, err := f.store.copy.Fetch(ctx, false)
	if err != nil {
		return false, storeError(err)
	}
	if changed, err = f.show(fetched.Pointer); errors.Is(err, snapshot.ErrCorrupt) {
		// Either the local copy of a segment is damaged, which this repairs, or the remote one, and
		// this fails.
		f.log.Warn("the local copy of the snapshot is damaged; downloading damaged segments again", "error", err)
		if fetched, err = f.store.copy.Fetch(ctx, true); err == nil {
			changed, err = f.show(fetched.Pointer)
		}
	}
	if err != nil {
		return false, storeError(err)
	}
	if err := f.store.copy.Keep(fetched.Version); err != nil {
		return changed, err
	}
	if fetched.Changed {
		t := f.store.remote.Traffic().Minus(before)
		f.log.Info("snapshot fetched", "snapshot", f.shown.ID,
			"segments", fetched.Segments, "segment_bytes", fetched.Bytes,
			"requests", t.Requests, "received_bytes", t.Received)
		f.tidy()
	}
	return changed, nil
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
		_, err = f.store.Collect(store.CollectOptions{Keep: copyKeeps, Grace: copyGrace})
	}
	if err != nil {
		f.log.Warn("old snapshots could not be removed", "store", f.store.Dir(), "error", err)
	}
}

// first is the first poll. If the remote store has no usable snapshot, the last kept one is served.
func (f *follower) first(ctx context.Context) error {
	_, err := f.poll(ctx)
	if err == nil || f.store.remote == nil || ctx.Err() != nil {
		return err
	}
	last, lastErr := f.store.copy.Last()
	if lastErr != nil {
		return err
	}
	if _, showErr := f.show(last); showErr != nil {
		return errors.Join(err, fmt.Errorf("and the kept snapshot: %w", showErr))
	}
	reason := "the store has no snapshot that can be served"
	if errors.Is(err, replica.ErrUnavailable) {
		reason = "the store is unavailable"
	}
	f.log.Error(reason+"; serving the last good one", "serving", last.ID, "published", last.PublishedAt, "error", err)
	return nil
}

func (f *follower) pollAndLog(ctx context.Context) {
	before := f.shown.ID
	switch changed, err := f.poll(ctx); {
	case ctx.Err() != nil:
	case err != nil:
		f.log.Error("another snapshot could not be served; the old one stays", "serving", before, "error", err)
	case changed:
		f.log.Info("snapshot swapped", "from", before, "to", f.shown.ID)
	}
}

// nextPoll fires after 90 to 110 % of the interval, which spreads the polls of many replicas. With
// 0 it never fires.
func nextPoll(after time.Duration) <-chan time.Time {
	if after == 0 {
		return nil
	}
	return time.After(after*9/10 + rand.N(after/5+1))
}

// follow polls at the interval, at every SIGHUP and when woken.
func (f *follower) follow(ctx context.Context, interval time.Duration) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
		case <-f.wake:
		case <-nextPoll(interval):
		}
		f.pollAndLog(ctx)
	}
}
