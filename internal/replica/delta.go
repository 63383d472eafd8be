package replica

import (
	"context"
	"path"

	"hdqs/internal/objects"
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

// putDeltas uploads the deltas of the local store that make segments of a snapshot.
func (r *Remote) putDeltas(ctx context.Context, local *store.Store, m *store.Manifest) error {
	names, err := local.DeltasTo(m)
	if err != nil || len(names) == 0 {
		return err
	}
	there, err := listed(ctx, r, path.Dir(names[0]))
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, ok := there[name]; ok {
			continue
		}
		if err := objects.PutFile(ctx, r, name, local.Snapshots.Path(name)); err != nil {
			return err
		}
	}
	return nil
}
