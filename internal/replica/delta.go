package replica

import (
	"context"
	"fmt"
	"path"

	"hdqs/snapshot/store"
)

// deltas finds, for the tables of a snapshot, the deltas from the segments that the local store got
// last, by whatever channel: a canary's snapshot follows one of the channel that it is of.
func (r *Replica) deltas(m *store.Manifest) map[string]store.Delta {
	found := map[string]store.Delta{}
	names, _ := r.local.Channels.Names() // without them there are no deltas
	var last store.Pointer
	for _, name := range names {
		if p, err := r.local.Channels.Channel(name); err == nil && p.PublishedAt.After(last.PublishedAt) {
			last = p
		}
	}
	before, err := r.local.Snapshots.Published(last)
	if err != nil {
		return found
	}
	for _, d := range store.DeltasOf(before, m) {
		if r.local.Segments.HasSegment(d.From, false) {
			found[d.To.SHA256] = d
		}
	}
	return found
}

// addByDelta downloads a delta and makes the segment from it. One is made at a time, which bounds
// memory, and leaves the other cores to requests.
func (r *Replica) addByDelta(ctx context.Context, d store.Delta) (size int64, err error) {
	delta, _, err := r.remote.objects.read(ctx, d.Name(), "", d.MaxBytes())
	if err != nil {
		return 0, err
	}
	r.making.Lock()
	defer r.making.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	r.Beside(func() { err = r.local.Segments.AddByDelta(d, delta, &r.applier) })
	if err != nil {
		return 0, fmt.Errorf("table %s: %w", d.To.Table, err)
	}
	return int64(len(delta)), nil
}

// putDeltas uploads the deltas of the local store that make segments of a snapshot.
func (r *Remote) putDeltas(ctx context.Context, local *store.Store, m *store.Manifest) error {
	names, err := local.DeltasTo(m)
	if err != nil || len(names) == 0 {
		return err
	}
	listed, err := r.listed(ctx, path.Dir(names[0]))
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, there := listed[name]; there {
			continue
		}
		if err := r.putFile(ctx, name, local.Snapshots.Path(name)); err != nil {
			return err
		}
	}
	return nil
}
