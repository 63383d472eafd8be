package follow

import (
	"testing"

	"hdqs/snapshot/store"
)

// TestManifestOfOpenSnapshot checks that the manifest of an open snapshot is not read again: no
// store is behind this one.
func TestManifestOfOpenSnapshot(t *testing.T) {
	open := []*store.Snapshot{nil, {Manifest: &store.Manifest{ID: "a"}}, {Manifest: &store.Manifest{ID: "b"}}}
	for i, id := range []string{"a", "b"} {
		m, err := (&Source{}).manifestOf(id, open)
		if err != nil || m != open[i+1].Manifest {
			t.Errorf("manifest %q: %v, %v", id, m, err)
		}
	}
}
