package follow

import (
	"context"
	"encoding/json"
	"io/fs"

	"hdqs/internal/atomicfile"
	"hdqs/snapshot/store"
)

// seen is what was read last of the main channel and of its canary. Where signatures are required,
// no replica follows either of them back to an earlier state, whichever of them it follows now.
type seen struct {
	Main   store.Channel `json:"main"`
	Canary store.Channel `json:"canary"`
}

// lastSeen adds to what this process has read what the file of Options.Seen has, which is from
// earlier processes and from replicas that share the file. A file that is missing or damaged has
// nothing.
func (f *Follower) lastSeen(now seen) seen {
	if f.options.Seen == "" || !f.source.Store.Keys.IsStrict() {
		return now
	}
	var kept seen
	data, err := store.ReadFile(f.options.Seen, 2*store.MaxChannel)
	if err == nil && json.Unmarshal(data, &kept) == nil {
		now.Main = f.source.later(f.source.ChannelName, kept.Main, now.Main)
		now.Canary = f.source.later(store.CanaryOf(f.source.ChannelName), kept.Canary, now.Canary)
	}
	return now
}

// later returns the later one of two states of a channel.
func (s *Source) later(name string, a, b store.Channel) store.Channel {
	if s.Store.Keys.CheckChannel(name, a) == nil && s.Store.Keys.CheckStep(name, a, b) != nil {
		return a
	}
	return b
}

// remember keeps what a poll has read, for later polls and starts.
func (f *Follower) remember(c choice) error {
	f.main, f.canary = c.main, c.canary
	if f.options.Seen == "" || !f.source.Store.Keys.IsStrict() {
		return nil
	}
	kept := f.lastSeen(seen{})
	now := f.lastSeen(seen{c.main.Channel, c.canary.Channel})
	if now.Main.Same(kept.Main.Pointer) && now.Canary.Same(kept.Canary.Pointer) {
		return nil
	}
	data, err := json.Marshal(now)
	if err == nil {
		err = atomicfile.Write(f.options.Seen, data)
	}
	return err
}

// showSeen serves what was seen last, if the store still has it. If nothing was seen the error is
// fs.ErrNotExist.
func (f *Follower) showSeen() error {
	last := f.lastSeen(seen{})
	p := last.Main.Pointer
	if last.Canary.Concerns(f.options.Replica, last.Main) {
		p = last.Canary.Pointer
	}
	if p.ID == "" {
		return fs.ErrNotExist
	}
	snap, err := f.open(p, store.Pointer{}, nil)
	if err == nil {
		_, err = f.show(p, found{
			snapshot: snap, figures: f.figuresOf(p),
			changes: f.source.changesOf(context.Background(), nil, last.Main, ""),
		})
	}
	return err
}
