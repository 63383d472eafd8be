package follow

import (
	"context"
	"errors"
	"io/fs"

	"hdqs/api/state"
	"hdqs/internal/history"
	"hdqs/internal/objects"
	"hdqs/internal/replica"
	"hdqs/snapshot/store"
)

// Source is a local store, or the local copy of a remote one, with the channel to follow.
type Source struct {
	Store       *store.Store
	ChannelName string
	Remote      *replica.Remote  // nil for a local store
	Copy        *replica.Replica // nil for a local store
	Canary      *replica.Replica // of the channel's canary; nil for a local store
}

// Files are the files of the store itself, and not those of its copy.
func (s *Source) Files() objects.Store {
	if s.Remote != nil {
		return s.Remote
	}
	return s.Store.Files()
}

// traffic returns the traffic with the remote store so far.
func (s *Source) traffic() (t objects.Traffic) {
	if s.Remote != nil {
		t = s.Remote.Traffic()
	}
	return t
}

// changesOf compares the snapshots that a channel has shown, the newest first, each with the one
// before it, as far as what differs is kept or the local store has their manifests. It ends at the
// snapshot that is served already, since the server knows the changes before that.
//
// What is kept is read from the remote store too, if that is not nil. Manifests of open snapshots
// are not read again: at full scale each takes 10 ms to parse.
func (s *Source) changesOf(
	ctx context.Context, remote objects.Store, c store.Channel, served string, open ...*store.Snapshot,
) (changes []*state.Change) {
	all := append([]store.Pointer{c.Pointer}, c.Previous...)
	later := 0 // the last one that was compared
	manifest, _ := s.manifestOf(all[0].ID, open)
	for i := 1; i < len(all) && all[later].ID != served; i++ {
		p, to := all[i], all[later]
		kept := s.keptChange(ctx, remote, p.ID, to.ID)
		before, err := s.manifestOf(p.ID, open)
		switch {
		case kept != nil:
			changes = append(changes, kept.PublishedAt(to.PublishedAt.UTC()))
		case err != nil && manifest != nil:
			continue // it was removed, or never downloaded
		case err == nil && manifest != nil:
			was := state.Published{At: p.PublishedAt, Manifest: before}
			changes = append(changes, state.NewChange(was, state.Published{At: to.PublishedAt, Manifest: manifest}))
		}
		later, manifest = i, before
	}
	return changes
}

// keptChange is what the store has kept of two snapshots, nil if it has not. That of a remote store
// is copied, so that the next start has it.
func (s *Source) keptChange(ctx context.Context, remote objects.Store, from, to string) *state.Change {
	name, here := history.Name(from, to), s.Store.Files()
	data, _, err := here.Read(ctx, name, "", history.MaxChange)
	copied := isAbsent(err) && remote != nil
	if copied {
		data, _, err = remote.Read(ctx, name, "", history.MaxChange)
	}
	if err != nil {
		return nil
	}
	kept, err := history.Parse(from, to, data, s.Store.Keys)
	if err != nil {
		return nil // the change is then shown without numbers of rows
	}
	if copied {
		if err := objects.PutBytes(ctx, here, name, data); err == nil {
			_ = history.Prune(ctx, here, mostKept) // the next one tries again
		}
	}
	return kept.Change
}

// mostKept is how many changes a copy of a remote store has, as many as a server shows.
const mostKept = 40

// manifestOf returns the manifest of a snapshot that is open, or reads it.
func (s *Source) manifestOf(id string, open []*store.Snapshot) (*store.Manifest, error) {
	for _, snap := range open {
		if snap != nil && snap.Manifest.ID == id {
			return snap.Manifest, nil
		}
	}
	return s.Store.Snapshots.Manifest(id)
}

// isAbsent reports whether an error is about something that is missing, such as a channel.
func isAbsent(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func closeSnapshot(s *store.Snapshot) {
	if s != nil {
		_ = s.Close() // of memory, which can fail only if it is not there
	}
}
