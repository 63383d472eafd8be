package bulk

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"hdqs/internal/atomicfile"
	"hdqs/snapshot/store"
)

// Has reports whether the store has a file: by its size or, with whole, by its content.
func (b *Bulk) Has(f *File, whole bool) bool { return HasFile(b.Path(f), f, whole) }

// Take is Has by content: the store keeps the files of earlier snapshots where they are.
func (b *Bulk) Take(f *File) bool { return b.Has(f, true) }

// HasFile reports whether a path is that of a file of a manifest: by its size or, with whole, by
// its content.
func HasFile(path string, f *File, whole bool) bool {
	return store.HasFile(path, f.Bytes, f.SHA256, whole)
}

// PutManifest adds a manifest whose files are in the store, and so publishes them. Writing the same
// one again changes nothing. Another one of the same snapshot is refused.
func (b *Bulk) PutManifest(m *Manifest) error {
	data, err := m.Encode()
	if err != nil {
		return err
	}
	return b.addManifest(m, data, b.store.Keys.SignText(about(m.Snapshot), data))
}

// AddManifest is PutManifest for a manifest that was signed elsewhere. The signature is checked if
// the store requires one.
func (b *Bulk) AddManifest(snapshotID string, data, signature []byte) error {
	m, err := b.CheckManifest(snapshotID, data, signature)
	if err != nil {
		return err
	}
	return b.addManifest(m, data, signature)
}

// CheckManifest parses the manifest of a snapshot, and checks the signature if the store requires
// one.
func (b *Bulk) CheckManifest(snapshotID string, data, signature []byte) (*Manifest, error) {
	if err := b.store.Keys.CheckText(about(snapshotID), data, signature); err != nil {
		return nil, err
	}
	return parseAs(snapshotID, data)
}

func parseAs(snapshotID string, data []byte) (*Manifest, error) {
	m, err := ParseManifest(data)
	if err != nil {
		return nil, err
	}
	if m.Snapshot != snapshotID {
		return nil, corruptf("manifest of %s is under the name of %s", m.Snapshot, snapshotID)
	}
	return m, nil
}

func (b *Bulk) addManifest(m *Manifest, data, signature []byte) error {
	folders := map[string]bool{}
	for f := range m.All {
		if !b.Has(f, false) {
			return corruptf("file %s of %s is missing in the store, or has another size", f.Name(), m.Snapshot)
		}
		folders[filepath.Dir(b.Path(f))] = true
	}
	// Whoever wrote a file that was there already may have failed to make its name durable.
	for dir := range folders {
		if err := atomicfile.SyncDir(dir); err != nil {
			return err
		}
	}
	// The signature comes first, so that a reader never finds the manifest without it.
	if len(signature) > 0 {
		if err := atomicfile.Write(b.store.Snapshots.Path(SignatureName(m.Snapshot)), signature); err != nil {
			return err
		}
	}
	path := b.store.Snapshots.Path(ManifestName(m.Snapshot))
	switch old, err := store.ReadFile(path, MaxManifest); {
	case err == nil && bytes.Equal(old, data):
		return nil
	case err == nil:
		return fmt.Errorf("%s lists other bulk files of snapshot %s, and manifests never change: "+
			"remove it to replace them: %w", path, m.Snapshot, fs.ErrExist)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return atomicfile.Write(path, data)
}
