package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"hdqs/internal/atomicfile"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// openTwo opens a snapshot of two tables of a store.
func openTwo(t *testing.T, s *Store) (snap *Snapshot, path string) {
	t.Helper()
	putSnapshot(t, s, "one", mixedTable(), smallTable("small", 7))
	snap, err := s.Snapshots.Open("one")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { snap.Close() })
	path, err = s.Segments.SegmentPath(snap.Manifest.Tables[0].SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return snap, path
}

// checkSound checks that the first table is as it was written.
func checkSound(t *testing.T, snap *Snapshot) {
	t.Helper()
	segment := snap.Segments["mixed"]
	if err := segment.Recheck(func(int) error { return nil }); err != nil || segment.IsSuspect() {
		t.Errorf("%v, suspect %v", err, segment.IsSuspect())
	}
}

// TestReopen: only suspect segments are opened again, from the file or from what is mapped. One
// that cannot be opened does not keep others from it.
func TestReopen(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	snap, path := openTwo(t, s)
	reopen := func() (*Snapshot, error) {
		t.Helper()
		next, err := s.Snapshots.Reopen(snap)
		if err == nil {
			checkSound(t, next)
		}
		if err := next.Close(); err != nil {
			t.Error(err)
		}
		return next, err
	}
	next, err := s.Snapshots.Reopen(snap)
	if err != nil || next.Segments["mixed"] != snap.Segments["mixed"] {
		t.Errorf("a sound segment was opened again: %v", err)
	}
	next.Close()

	snap.Segments["mixed"].MarkSuspect()
	if _, err := reopen(); err != nil {
		t.Error(err)
	}
	sound := testkit.ReadFile(t, path)
	testkit.Must(t, atomicfile.Write(path, []byte("damaged")))
	if _, err := reopen(); err != nil { // what is mapped is another file by now
		t.Error(err)
	}
	testkit.Must(t, os.Remove(path))
	if _, err := reopen(); err != nil {
		t.Error(err)
	}

	testkit.Must(t, os.WriteFile(path, sound, 0o644))
	later, err := s.Snapshots.OpenAfter("one", snap)
	if err != nil {
		t.Fatal(err)
	}
	defer later.Close()
	if later.Segments["mixed"] == snap.Segments["mixed"] || later.Segments["small"] != snap.Segments["small"] {
		t.Error("OpenAfter shares the suspect segment, or opens the other one")
	}

	later.Segments["mixed"].MarkSuspect()
	later.Segments["small"].MarkSuspect()
	testkit.Must(t, os.Truncate(path, 0))
	next, err = s.Snapshots.Reopen(later)
	if !errors.Is(err, snapshot.ErrFault) || !errors.Is(err, snapshot.ErrCorrupt) {
		t.Errorf("got %v", err)
	}
	if next.Segments["mixed"] != later.Segments["mixed"] || next.Segments["small"] == later.Segments["small"] {
		t.Error("the damaged segment was replaced, or the sound one was not")
	}
	next.Close()
}

// TestLinks: a segment whose file was removed or replaced is opened by its link. Links to segments
// that are not used any more are removed, and without links everything works.
func TestLinks(t *testing.T) {
	t.Parallel()
	plain := newStore(t)
	folder := filepath.Join(t.TempDir(), "links", "stable")
	s := plain.Linking(folder)
	snap, path := openTwo(t, s)
	link := filepath.Join(folder, filepath.Base(path))
	if !sameFile(path, link) {
		t.Fatal("the link is not the file of the store")
	}
	sound := testkit.ReadFile(t, path)
	for name, harm := range map[string]func() error{
		"removed":  func() error { return os.Remove(path) },
		"replaced": func() error { return atomicfile.Write(path, []byte("damaged")) },
	} {
		testkit.Must(t, harm())
		if _, err := plain.Snapshots.Open("one"); !errors.Is(err, snapshot.ErrCorrupt) {
			t.Errorf("%s: without links %v", name, err)
		}
		if err := s.Verify("one"); err == nil {
			t.Errorf("%s: Verify has used the link", name)
		}
		again, err := s.Snapshots.Open("one")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkSound(t, again)
		again.Close()
	}

	// Another file with the right content gets the link.
	testkit.Must(t, atomicfile.Write(path, sound))
	again, err := s.Snapshots.Open("one")
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	if !sameFile(path, link) {
		t.Error("the link is still to the earlier file")
	}

	names := func() int {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	testkit.Must(t, os.WriteFile(link+".new", nil, 0o644))
	if err := s.Segments.KeepLinks(snap.Manifest); err != nil || names() != 2 {
		t.Errorf("%d names after collection, %v; want the two segments", names(), err)
	}
	next := putSnapshot(t, s, "two", smallTable("small", 7))
	if err := s.Segments.KeepLinks(next); err != nil || names() != 1 {
		t.Errorf("%d names after collection, %v; want one", names(), err)
	}
}

// TestNoLinks: where links cannot be made, segments are opened all the same and no folder is left.
func TestNoLinks(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	folder := filepath.Join("/proc", "links")
	openTwo(t, s.Linking(folder))
	if err := s.Linking(folder).Segments.KeepLinks(&Manifest{}); err != nil {
		t.Error(err)
	}

	// A folder on another file system.
	other, err := os.MkdirTemp("/dev/shm", "hdqs-links-")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(other)
	folder = filepath.Join(other, "links")
	s = newStore(t).Linking(folder)
	_, path := openTwo(t, s)
	_, err = os.Stat(folder)
	if !errors.Is(err, fs.ErrNotExist) && !sameFile(path, filepath.Join(folder, filepath.Base(path))) {
		t.Errorf("the empty folder of links was left: %v", err)
	}
}
