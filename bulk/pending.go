package bulk

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"

	"hdqs/internal/atomicfile"
	"hdqs/snapshot/store"
)

// Pending is a file that has no name yet.
type Pending struct {
	file   *atomicfile.File
	buffer *bufio.Writer
	hash   hash.Hash
	bytes  int64
}

// Create creates a file in a directory. The caller ends with Discard, which does nothing after
// Commit.
func Create(dir string) (*Pending, error) {
	f, err := atomicfile.Create(filepath.Join(dir, "part"))
	if err != nil {
		return nil, err
	}
	return &Pending{file: f, buffer: bufio.NewWriterSize(f, 256<<10), hash: sha256.New()}, nil
}

// Write implements io.Writer.
func (p *Pending) Write(b []byte) (int, error) {
	p.hash.Write(b)
	p.bytes += int64(len(b))
	return p.buffer.Write(b)
}

// Finish sets the size and the digest of f to those of what was written.
func (p *Pending) Finish(f *File) error {
	f.Bytes, f.SHA256 = p.bytes, hex.EncodeToString(p.hash.Sum(nil))
	return p.buffer.Flush()
}

// Commit names the file once it is on disk, in the directory of Create.
func (p *Pending) Commit(path string) error { return p.file.CommitAs(path) }

// Discard closes the file, and removes it if it was not committed.
func (p *Pending) Discard() error { return p.file.Discard() }

// Create creates a file of the store.
func (b *Bulk) Create(f *File) (*Pending, error) { return Create(filepath.Dir(b.Path(f))) }

// Commit names a file that Create has created.
func (b *Bulk) Commit(p *Pending, f *File) error {
	if err := p.Finish(f); err != nil {
		return err
	}
	// A file that is there and whole keeps its pages in the page cache.
	if b.Has(f, true) {
		return nil
	}
	return p.Commit(b.Path(f))
}

// Has reports whether the store has a file: by its size or, with whole, by its content.
func (b *Bulk) Has(f *File, whole bool) bool { return HasFile(b.Path(f), f, whole) }

// Take is Has with whole: the store keeps the files of earlier snapshots where they are.
func (b *Bulk) Take(f *File) bool { return b.Has(f, true) }

// HasFile reports whether a path is that of a file of a manifest: by its size or, with whole, by
// its content.
func HasFile(path string, f *File, whole bool) bool {
	if info, err := os.Stat(path); err != nil || info.Size() != f.Bytes {
		return false
	}
	if !whole {
		return true
	}
	got, err := store.HashFile(path)
	return err == nil && got == f.SHA256
}

// AddFile stores a file that fill writes. It gets its name only if its content is that of f.
func (b *Bulk) AddFile(f *File, fill func(*os.File) error) error {
	file, err := atomicfile.Create(b.Path(f))
	if err != nil {
		return err
	}
	defer file.Discard()
	if err := fill(file.OS()); err != nil {
		return err
	}
	got, err := store.HashFile(file.Name())
	if err != nil {
		return err
	}
	if got != f.SHA256 {
		return corruptf("file %s has the SHA-256 %s, the manifest says %s", f.Path, got, f.SHA256)
	}
	return file.Commit()
}

// PutManifest adds a manifest whose files are in the store, and so publishes them. Writing the same
// one again changes nothing. Another one of the same snapshot is refused.
func (b *Bulk) PutManifest(m *Manifest) error {
	data, err := m.Encode()
	if err != nil {
		return err
	}
	return b.addManifest(m, data, b.store.SignText(about(m.Snapshot), data))
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
	if err := b.store.CheckText(about(snapshotID), data, signature); err != nil {
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
		if err := atomicfile.Write(b.path(SignatureName(m.Snapshot)), signature); err != nil {
			return err
		}
	}
	path := b.path(ManifestName(m.Snapshot))
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
