package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hdqs/internal/atomicfile"
)

// Linking returns the store with a folder for hard links to the segments that it opens. When a file
// in the store has been removed or replaced by a damaged one, the segment is opened by its link. A
// link is another name of the same file, so it does not protect from writes to that file. Where
// there can be no link, since the folder is on another file system or permissions forbid it,
// everything works without.
func (s *Store) Linking(folder string) *Store {
	return assemble(s.Snapshots.dir, folder, *s.Keys, s.Snapshots.recent)
}

// link links a file of the store that was opened. An older link to another file is replaced.
func (s *Segments) link(path string) {
	if s.links == "" || atomicfile.MkdirAll(s.links) != nil {
		return
	}
	link := filepath.Join(s.links, filepath.Base(path))
	err := os.Link(path, link)
	if errors.Is(err, fs.ErrExist) && !sameFile(path, link) {
		fresh := link + ".new"
		_ = os.Remove(fresh) // of a process that was killed here
		if err = os.Link(path, fresh); err == nil {
			err = os.Rename(fresh, link)
		}
	}
	if err != nil {
		_ = os.Remove(s.links) // only if it is empty
	}
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// KeepLinks removes all links except those to the segments of a snapshot.
func (s *Segments) KeepLinks(m *Manifest) error {
	if s.links == "" {
		return nil
	}
	entries, err := os.ReadDir(s.links)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	keep := map[string]bool{}
	for _, ref := range m.Tables {
		keep[ref.SHA256+segmentExt] = true
	}
	errs := []error{err}
	for _, e := range entries {
		if name := e.Name(); strings.Contains(name, segmentExt) && !keep[name] {
			if err := os.Remove(filepath.Join(s.links, name)); !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}
