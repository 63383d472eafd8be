package bulk

import (
	"errors"
	"io/fs"

	"hdqs/snapshot/store"
)

// The folders of bulk files in a store, and the extensions of the names in them.
const (
	dataDir      = "bulk/data"
	manifestsDir = "bulk/snapshots"
	manifestExt  = ".json"
	signatureExt = ".sig"
)

// Bulk is the bulk files of a store. It has no state: any number of goroutines and
// processes may use one directory at once.
type Bulk struct{ store *store.Store }

// Open opens the bulk files of a store, of which there may be none. Manifests are signed if the
// store signs, and must be signed if it requires signatures.
func Open(st *store.Store) *Bulk { return &Bulk{store: st} }

// Manifest reads the manifest of a snapshot's files. If it has none the error is fs.ErrNotExist.
func (b *Bulk) Manifest(snapshotID string) (*Manifest, error) {
	data, _, err := b.ManifestFile(snapshotID)
	if err != nil {
		return nil, err
	}
	return parseAs(snapshotID, data)
}

// ManifestName is the name of a snapshot's manifest in a store, with slashes.
func ManifestName(snapshotID string) string { return manifestsDir + "/" + snapshotID + manifestExt }

// SignatureName is the name of the signature beside a manifest.
func SignatureName(snapshotID string) string { return manifestsDir + "/" + snapshotID + signatureExt }

// ManifestFile returns the file of a manifest, byte for byte, and its signature, nil without one.
// The signature is checked if the store requires one.
func (b *Bulk) ManifestFile(snapshotID string) (data, signature []byte, err error) {
	if err := store.CheckID(snapshotID); err != nil {
		return nil, nil, err
	}
	if data, err = store.ReadFile(b.store.Snapshots.Path(ManifestName(snapshotID)), MaxManifest); err != nil {
		return nil, nil, err
	}
	signature, err = store.ReadFile(b.store.Snapshots.Path(SignatureName(snapshotID)), store.MaxSignature)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	return data, signature, b.store.Keys.CheckText(about(snapshotID), data, signature)
}

// about is what the signature of a manifest covers beside its bytes.
func about(snapshotID string) string { return "bulk files of " + snapshotID }

// Snapshots are the ids of the snapshots that have bulk files, sorted.
func (b *Bulk) Snapshots() ([]string, error) {
	return store.NamesIn(b.store.Snapshots.Path(manifestsDir))
}

// Path is where a file of a manifest lies.
func (b *Bulk) Path(f *File) string { return b.store.Snapshots.Path(f.Name()) }
