package follow

import (
	"hdqs/api/state"
	"hdqs/internal/replica"
	"hdqs/snapshot/store"
)

// Source is a local store, or the local copy of a remote one, with the channel to follow.
type Source struct {
	*store.Store
	ChannelName string
	Remote      *replica.Remote  // nil for a local store
	Copy        *replica.Replica // nil for a local store
	Canary      *replica.Replica // of the channel's canary; nil for a local store
}

// traffic returns the traffic with the remote store so far.
func (s *Source) traffic() (t replica.Traffic) {
	if s.Remote != nil {
		t = s.Remote.Traffic()
	}
	return t
}

// changesOf compares the snapshots that a channel has shown, the newest first, each with the one
// before it, as far as the local store has their manifests. It ends at the snapshot that is served
// already, since the server knows the changes before that.
//
// Manifests of open snapshots are not read again: at full scale each takes 10 ms to parse.
func (s *Source) changesOf(c store.Channel, served string, open ...*store.Snapshot) []*state.Change {
	var (
		changes []*state.Change
		later   *state.Published
	)
	for _, p := range append([]store.Pointer{c.Pointer}, c.Previous...) {
		manifest, err := s.manifestOf(p.ID, open)
		if err != nil {
			continue // it was removed, or never downloaded
		}
		this := state.Published{At: p.PublishedAt, Manifest: manifest}
		if later != nil {
			changes = append(changes, state.NewChange(this, *later))
			if p.ID == served {
				break
			}
		}
		later = &this
	}
	return changes
}

// manifestOf returns the manifest of a snapshot that is open, or reads it.
func (s *Source) manifestOf(id string, open []*store.Snapshot) (*store.Manifest, error) {
	for _, snap := range open {
		if snap != nil && snap.Manifest.ID == id {
			return snap.Manifest, nil
		}
	}
	return s.Manifest(id)
}
