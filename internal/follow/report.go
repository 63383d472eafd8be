package follow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"hdqs/api/state"
	"hdqs/internal/fleet"
	"hdqs/internal/objects"
	"hdqs/internal/replica"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// choose reads the main channel and, if the replica has a name, its canary. Neither may have moved
// back. A canary that cannot be read is as it was: a fault of it must neither move the replica nor
// keep it from the main channel. Where signatures are required this includes one that is missing,
// since everyone who can write to the store can remove it.
func (f *Follower) choose(ctx context.Context, main, canary replica.Version) (c choice, err error) {
	if f.options.Keys != nil && f.source.Store.Keys.IsStrict() {
		keys, err := f.options.Keys()
		if err != nil {
			return c, err
		}
		f.source.Store.Keys.Trust(keys)
	}
	name := f.source.ChannelName
	last := f.lastSeen(seen{main.Channel, canary.Channel})
	if !last.Canary.Same(canary.Pointer) {
		canary = replica.Version{Channel: last.Canary}
	}
	c.from = f.source.Copy
	if c.main, err = f.readChannel(ctx, c.from, name); err != nil {
		return c, f.options.Explain(ctx, err)
	}
	if err := f.source.Store.Keys.CheckStep(name, last.Main, c.main.Channel); err != nil {
		return c, err
	}
	c.Version, c.canary = c.main, canary
	if f.options.Replica == "" {
		return c, nil
	}
	name = store.CanaryOf(name)
	read, err := f.readChannel(ctx, f.source.Canary, name)
	if err == nil {
		err = f.source.Store.Keys.CheckStep(name, last.Canary, read.Channel)
	}
	counts := canary.IsOf(c.main.Channel)
	switch {
	case err == nil:
		c.canary = read
	case ctx.Err() != nil:
		return c, err
	case isAbsent(err) && !f.source.Store.Keys.IsStrict():
		c.canary = replica.Version{}
	case counts && errors.Is(err, store.ErrSignature):
		c.fault = err
	case counts || !isAbsent(err):
		f.log.Warn("the canary cannot be read, and stays as it was", "error", err)
	}
	if c.canary.Concerns(f.options.Replica, c.Channel) {
		c.Version, c.from, c.isCanary = c.canary, f.source.Canary, true
	}
	return c, nil
}

// Reports are written when they change, at each poll of a canary, and after a pause otherwise.
const reportEvery = 5 * time.Minute

// report writes what the replica serves, and why not what its channel shows, into the store. A
// store that cannot be written to is logged once: its fleet is unknown to those who publish.
func (f *Follower) report(ctx context.Context, c choice, failed error) {
	if f.options.Replica == "" || ctx.Err() != nil {
		return
	}
	said := &f.reported
	now := time.Now().UTC().Round(0)
	if said.started.IsZero() {
		said.started = now
	}
	if said.shown.ID != f.shown.ID {
		said.shown, said.since = f.shown, now
	}
	r := fleet.Report{
		Replica: f.options.Replica, Channel: f.source.ChannelName, Shown: f.shown, Since: said.since,
		Started: said.started, Version: f.options.Version, DueSeconds: int((2*reportEvery + 2*f.interval).Seconds()),
	}
	if c.isCanary && f.interval > 0 {
		r.DueSeconds = int((3*f.interval + f.options.Timeout).Seconds()) + 1
	}
	switch {
	case failed != nil && isRefusal(failed) && stageOf(failed) != stageChannel:
		r.Refused = &fleet.Refusal{
			Pointer: c.Pointer, Stage: string(stageOf(failed)), Reason: fleet.Short(failed.Error()),
		}
	case failed != nil:
		r.Failed = fleet.Short(string(stageOf(failed)) + ": " + failed.Error())
	}
	text, err := json.Marshal(r)
	if err == nil && bytes.Equal(text, said.last) && !c.isCanary && now.Sub(said.at) < reportEvery {
		return
	}
	if err == nil {
		_, err = await(ctx, f.Waiter, Step[struct{}]{
			Name: "writing the report of replica " + r.Replica, Timeout: f.options.Timeout,
			Run: func(ctx context.Context) (struct{}, error) { return struct{}{}, f.source.putReport(ctx, &r, text) },
		})
	}
	if err == nil {
		said.last, said.at, said.failure = text, now, ""
	} else if said.failure != err.Error() {
		said.failure = err.Error()
		f.log.Warn("the report of this replica cannot be written: status --fleet and publish do not know of it",
			"replica", r.Replica, "error", err)
	}
}

func (s *Source) putReport(ctx context.Context, r *fleet.Report, text []byte) error {
	name, err := store.ReplicaName(r.Channel, r.Replica)
	if err != nil {
		return err
	}
	return objects.PutBytes(ctx, s.Files(), name, text)
}

// isRefusal reports whether a poll failed since the snapshot cannot be served here, and not for the
// way to it.
func isRefusal(err error) bool {
	_, refused := errors.AsType[*RefusedError](err)
	_, memory := errors.AsType[*state.MemoryError](err)
	return refused || memory || errors.Is(err, snapshot.ErrCorrupt) || errors.Is(err, store.ErrSignature)
}
