package follow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hdqs/internal/replica"
	"hdqs/snapshot/store"
)

// Pauses of a start between two polls of a store that is away.
const (
	shortestWait        = time.Second
	longestWaitForStore = time.Minute
)

// First serves the first snapshot: the kept one of a remote store, which need not answer for that,
// or else what the channel shows. A patient follower waits for a store that is away; otherwise that
// is an error, so that a wrong address is seen at once.
func (f *Follower) First(ctx context.Context) error {
	if f.source.Remote != nil {
		f.ReportStep("opening the kept snapshot")
		err := f.showSeen()
		if err != nil {
			_, err = f.showKept()
		}
		switch {
		case err == nil:
			f.log.Info("serving the kept snapshot until the store has answered",
				"snapshot", f.shown.ID, "published", f.shown.PublishedAt)
			f.wake <- struct{}{} // the first poll
			return nil
		case !isAbsent(err):
			f.log.Warn("the kept snapshot cannot be served", "store", f.source.Store.Dir(), "error", err)
		}
	}
	for pause := shortestWait; ; {
		f.again = false
		_, err := f.Poll(ctx)
		away := errors.Is(err, replica.ErrUnavailable) || errors.Is(err, ErrNoAnswer)
		switch {
		case err == nil || ctx.Err() != nil:
			return err
		case f.again:
			f.logInterrupted()
		case errors.Is(err, store.ErrSignature) && f.showSeen() == nil:
			f.log.Error("the channel cannot be followed; serving what was seen last", "serving", f.shown.ID,
				"error", err)
			return nil
		case away && f.options.Patient:
			f.log.Error("no snapshot was kept, and the store is unavailable", "next_try", pause.String(), "error", err)
			f.ReportStep("waiting for the store: " + err.Error())
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
func (f *Follower) showKept() (store.Pointer, error) {
	p, err := f.source.Copy.Last()
	if err != nil {
		return p, err
	}
	snap, err := f.open(p, store.Pointer{}, nil)
	if err == nil {
		kept, _ := f.source.Store.Channels.History(f.source.ChannelName) // for changes only
		_, err = f.show(p, found{
			snapshot: snap, figures: f.figuresOf(p), changes: f.source.changesOf(context.Background(), nil, kept, ""),
		})
	}
	return p, err
}

// FirstAnswered is First for commands that want what the channel shows now. If the remote store has
// no usable snapshot, the last kept one is served.
func (f *Follower) FirstAnswered(ctx context.Context) error {
	_, err := f.Poll(ctx)
	if err == nil || f.source.Remote == nil || ctx.Err() != nil {
		return err
	}
	last, keptErr := f.showKept()
	if isAbsent(keptErr) {
		return err
	}
	if keptErr != nil {
		return fmt.Errorf("%w\nand the kept snapshot: %v", err, keptErr) // the first sets the exit code
	}
	reason := "the store has no snapshot that can be served"
	if errors.Is(err, replica.ErrUnavailable) || errors.Is(err, ErrNoAnswer) {
		reason = "the store is unavailable"
	}
	f.log.Error(reason+"; serving the last good one", "serving", last.ID, "published", last.PublishedAt, "error", err)
	return nil
}
