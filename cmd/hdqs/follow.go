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
	wake   chan struct{} // a send asks for a look at once

	shown  store.Pointer
	served *store.Snapshot // the server's, open for as long as it is the current one
}

func newFollower(server *api.Server, st *openStore, log *slog.Logger) *follower {
	return &follower{server: server, store: st, log: log, wake: make(chan struct{}, 1)}
}

// look serves what the channel shows if that is another snapshot than the served one. On an error the served one stays.
func (f *follower) look(ctx context.Context) (changed bool, err error) {
	if f.store.remote != nil {
		return f.lookRemote(ctx)
	}
	p, err := f.store.Channel(f.store.channel)
	if err != nil {
		return false, storeFault(err)
	}
	return f.show(p)
}

// show opens a snapshot of the local store and serves it. When it is served already, but was shown anew, others that were shown in between may have been
// missed here: then only its time of publication is another.
func (f *follower) show(p store.Pointer) (changed bool, err error) {
	if err := f.store.CheckStep(f.shown, p); err != nil {
		return false, storeFault(err)
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
		return false, storeFault(err)
	}
	if err := f.server.Swap(api.Release{Snapshot: snap, PublishedAt: p.PublishedAt}); err != nil {
		return false, exitWith(exitVerification, errors.Join(fmt.Errorf("snapshot %s: %w", p.ID, err), snap.Close()))
	}
	f.shown, f.served = p, snap
	return true, nil
}

// lookRemote brings what the remote channel shows, and keeps it once it is served.
func (f *follower) lookRemote(ctx context.Context) (changed bool, err error) {
	before := f.store.remote.Traffic()
	fetched, err := f.store.copy.Fetch(ctx, false)
	if err != nil {
		return false, storeFault(err)
	}
	if changed, err = f.show(fetched.Pointer); errors.Is(err, snapshot.ErrCorrupt) {
		// The copy of a segment has rotted on this disk, if it is not the remote one that is wrong: then this fails too.
		f.log.Warn("the copy of the snapshot is damaged; its segments are compared and fetched anew", "error", err)
		if fetched, err = f.store.copy.Fetch(ctx, true); err == nil {
			changed, err = f.show(fetched.Pointer)
		}
	}
	if err != nil {
		return false, storeFault(err)
	}
	if err := f.store.copy.Keep(fetched.Version); err != nil {
		return changed, err
	}
	if fetched.Changed {
		t := f.store.remote.Traffic().Minus(before)
		f.log.Info("snapshot fetched", "snapshot", f.shown.ID, "segments", fetched.Segments, "segment_bytes", fetched.Bytes,
			"requests", t.Requests, "received_bytes", t.Received)
		f.tidy()
	}
	return changed, nil
}

// The copy of a remote store holds on to the snapshot before the served one. The grace is for other commands that use the same directory.
const (
	copyKeeps = 1
	copyGrace = time.Hour
)

// tidy removes from the copy what nobody needs any more.
func (f *follower) tidy() {
	release, err := f.store.lock("serve: collection")
	if errors.Is(err, store.ErrLocked) {
		return // the next change comes by here too
	}
	if err == nil {
		defer release()
		_, err = f.store.Collect(store.CollectOptions{Keep: copyKeeps, Grace: copyGrace})
	}
	if err != nil {
		f.log.Warn("old snapshots could not be removed", "store", f.store.Dir(), "error", err)
	}
}

// first is the look before anything is served. What was kept of a remote store stands in if it cannot give a snapshot now.
func (f *follower) first(ctx context.Context) error {
	_, err := f.look(ctx)
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
	reason := "the store gives no snapshot that can be served"
	if errors.Is(err, replica.ErrUnavailable) {
		reason = "the store is away"
	}
	f.log.Error(reason+"; serving the last good one", "serving", last.ID, "published", last.PublishedAt, "error", err)
	return nil
}

func (f *follower) lookAndLog(ctx context.Context) {
	before := f.shown.ID
	switch changed, err := f.look(ctx); {
	case ctx.Err() != nil:
	case err != nil:
		f.log.Error("another snapshot could not be served; the old one stays", "serving", before, "error", err)
	case changed:
		f.log.Info("snapshot swapped", "from", before, "to", f.shown.ID)
	}
}

// nextLook comes after about so long: 90 to 110 % of it, which spreads the looks of many replicas. After 0 it never comes.
func nextLook(after time.Duration) <-chan time.Time {
	if after == 0 {
		return nil
	}
	return time.After(after*9/10 + rand.N(after/5+1))
}

// follow looks at every poll and at every SIGHUP; one look at a time.
func (f *follower) follow(ctx context.Context, poll time.Duration) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
		case <-f.wake:
		case <-nextLook(poll):
		}
		f.lookAndLog(ctx)
	}
}
