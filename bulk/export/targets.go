package export

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hdqs/bulk"
	"hdqs/internal/atomicfile"
	"hdqs/snapshot/store"
)

// ToStore writes the bulk files of a snapshot beside its store, and then their manifest. If the
// store has that manifest already, only files that are missing or damaged are written. The caller
// holds the lock of the store.
func ToStore(ctx context.Context, b *bulk.Bulk, snap *store.Snapshot, o Options) (*bulk.Manifest, error) {
	earlier, err := manifests(b)
	if err != nil {
		return nil, err
	}
	for _, m := range earlier {
		if m.Snapshot == snap.Manifest.ID {
			lacks := func(f *bulk.File) bool { return !b.Has(f, true) }
			if !slices.ContainsFunc(slices.Collect(m.All), lacks) { // an earlier release may have written other bytes
				return m, b.PutManifest(m)
			}
			o.Formats, o.Tables = contents(m)
		}
	}
	m, err := Write(ctx, snap, earlier, b, o)
	if err != nil {
		return nil, err
	}
	return m, b.PutManifest(m)
}

// manifests are those of all snapshots that can be read. What cannot be taken over is written anew.
func manifests(b *bulk.Bulk) ([]*bulk.Manifest, error) {
	ids, err := b.Snapshots()
	if err != nil {
		return nil, err
	}
	var all []*bulk.Manifest
	for _, id := range ids {
		if m, err := b.Manifest(id); err == nil {
			all = append(all, m)
		}
	}
	return all, nil
}

// contents are the formats and the tables of a manifest.
func contents(m *bulk.Manifest) (formats []bulk.Format, tables []string) {
	has := map[bulk.Format]bool{}
	tables = []string{}
	for _, t := range m.Tables {
		tables = append(tables, t.Table)
		for _, f := range t.Files {
			has[f.Format] = true
		}
	}
	formats = []bulk.Format{}
	for _, f := range AllFormats {
		if has[f] {
			formats = append(formats, f)
		}
	}
	return formats, tables
}

// The names in a tree beside the folders of snapshots.
const (
	manifestName = "manifest.json"
	indexName    = "index.json"
	latestName   = "latest"
	newPrefix    = ".new-"
)

// ToTree writes the bulk files of a snapshot into a folder of a directory, under their paths, and
// returns the folder. It gets its name, that of the snapshot, when all of it is there. Then the
// index of snapshots and the link latest are replaced. Files of an unchanged table are links to
// those of an earlier export to the same directory. Of the earlier ones, the newest keep remain.
func ToTree(
	ctx context.Context, dir string, snap *store.Snapshot, keep int, o Options,
) (m *bulk.Manifest, folder string, err error) {
	lock, err := store.LockDir(dir, "export")
	if err != nil {
		return nil, "", err
	}
	defer lock.Release() // ends with the process at the latest
	earlier, err := exportsIn(dir)
	if err != nil {
		return nil, "", err
	}
	id := snap.Manifest.ID
	t := &tree{dir: dir, new: filepath.Join(dir, newPrefix+id), taken: map[string]string{}}
	for _, m := range earlier {
		for f := range m.All {
			t.taken[f.SHA256] = filepath.Join(dir, m.Snapshot, filepath.FromSlash(f.Path))
		}
	}
	if err := removeUnfinished(dir); err != nil {
		return nil, "", err
	}
	if m, err = Write(ctx, snap, earlier, t, o); err == nil {
		err = t.publish(m)
	}
	if err != nil {
		return nil, "", errors.Join(err, os.RemoveAll(t.new))
	}
	return m, filepath.Join(dir, id), tidy(dir, id, keep)
}

// exportsIn are the manifests of the exports in a directory, by the id of the snapshot.
func exportsIn(dir string) ([]*bulk.Manifest, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []*bulk.Manifest
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		data, err := store.ReadFile(filepath.Join(dir, e.Name(), manifestName), bulk.MaxManifest)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if m, err := bulk.ParseManifest(data); err == nil && m.Snapshot == e.Name() {
			all = append(all, m)
		}
	}
	return all, nil
}

// removeUnfinished removes what killed exports have left.
func removeUnfinished(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, newPrefix+"*"))
	links, _ := filepath.Glob(filepath.Join(dir, "."+latestName+"*")) // the pattern is right
	left = append(left, links...)
	for _, path := range left {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// tree is a Sink: a folder that gets its name at the end.
type tree struct {
	dir, new string
	taken    map[string]string // where earlier exports have a file, by digest
}

// Path implements Sink.
func (t *tree) Path(f *bulk.File) string { return filepath.Join(t.new, filepath.FromSlash(f.Path)) }

// Take implements Sink.
func (t *tree) Take(f *bulk.File) bool {
	from, to := t.taken[f.SHA256], t.Path(f)
	if !bulk.HasFile(from, f, true) || atomicfile.MkdirAll(filepath.Dir(to)) != nil {
		return false
	}
	return os.Link(from, to) == nil || bulk.HasFile(to, f, true)
}

func (t *tree) publish(m *bulk.Manifest) error {
	data, err := m.Encode()
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(t.new, manifestName), data); err != nil {
		return err
	}
	documents, err := m.Documents("")
	for name, text := range documents {
		err = errors.Join(err, atomicfile.Write(filepath.Join(t.new, filepath.FromSlash(name)), text))
	}
	if err != nil {
		return err
	}
	// The names of the folders of partitions; atomicfile has synced those in them.
	err = filepath.WalkDir(t.new, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return atomicfile.SyncDir(path)
	})
	if err != nil {
		return err
	}
	final := filepath.Join(t.dir, m.Snapshot)
	if _, err := os.Lstat(final); err == nil {
		return t.replaceSame(final, data)
	}
	if err := os.Rename(t.new, final); err != nil {
		return err
	}
	return atomicfile.SyncDir(t.dir)
}

// replaceSame keeps a folder that is there already if it is the same export.
func (t *tree) replaceSame(final string, manifest []byte) error {
	old, err := store.ReadFile(filepath.Join(final, manifestName), bulk.MaxManifest)
	if err != nil || string(old) != string(manifest) {
		return fmt.Errorf("%s is another export of the snapshot, with other tables or formats: remove it or "+
			"export to another directory: %w", final, fs.ErrExist)
	}
	m, err := bulk.ParseManifest(old)
	if err != nil {
		return err
	}
	for f := range m.All {
		if !bulk.HasFile(filepath.Join(final, filepath.FromSlash(f.Path)), f, true) {
			return fmt.Errorf("%s/%s is damaged: remove %s and export again", final, f.Path, final)
		}
	}
	return os.RemoveAll(t.new)
}

// tidy replaces the index and the link, then removes exports that are not kept.
func tidy(dir, id string, keep int) error {
	all, err := exportsIn(dir)
	if err != nil {
		return err
	}
	bulk.NewestFirst(all)
	var gone []string
	all = slices.DeleteFunc(all, func(m *bulk.Manifest) bool {
		if m.Snapshot != id {
			keep--
		}
		old := m.Snapshot != id && keep < 0
		if old {
			gone = append(gone, m.Snapshot)
		}
		return old
	})
	data, err := bulk.NewIndex(all).Encode()
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(dir, indexName), data); err != nil {
		return err
	}
	if err := atomicfile.Symlink(id, filepath.Join(dir, latestName)); err != nil {
		return err
	}
	for _, earlier := range gone {
		if err := os.RemoveAll(filepath.Join(dir, earlier)); err != nil {
			return err
		}
	}
	return nil
}
