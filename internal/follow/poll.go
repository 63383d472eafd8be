package follow

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

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

func (f *Follower) pollAndLog(ctx context.Context) error {
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

// Refresh builds at an interval. What was built without an error is polled at once. build reports
// errors itself.
func (f *Follower) Refresh(ctx context.Context, interval time.Duration, build func() error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-nextPoll(interval):
		}
		if build() == nil {
			select {
			case f.wake <- struct{}{}:
			default:
			}
		}
	}
}
