package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"hdqs/internal/testkit"
)

// nobody is a user that is not the one of the tests.
const nobody = 65534

// TestLockOfAnotherUser: the file that a killed process of another user left does not keep writers
// out for ever, and one that is locked does.
func TestLockOfAnotherUser(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	path := filepath.Join(s.Dir(), lockName)
	testkit.Must(t, os.MkdirAll(s.Dir(), 0o755))
	if os.Geteuid() == 0 {
		above := filepath.Dir(s.Dir())
		if err := errors.Join(os.Chown(s.Dir(), nobody, nobody), os.Chmod(above, 0o755),
			os.Chmod(filepath.Dir(above), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	for _, held := range []bool{true, false} {
		if err := os.WriteFile(path, []byte("{}"), 0o444); err != nil { // which only root may write
			t.Fatal(err)
		}
		release := func() error { return nil }
		if held {
			f := testkit.Value(os.Open(path))(t)
			testkit.Must(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
			release = func() error { return errors.Join(os.Remove(path), f.Close()) }
		}
		if err := lockAsNobody(s); held != errors.Is(err, ErrLocked) || !held && err != nil {
			t.Errorf("held by another user: %v: %v", held, err)
		}
		testkit.Must(t, release())
	}
}

// TestLockOnFullDisk: a store is locked although the disk has no room for who has the lock, since
// gc makes room.
func TestLockOnFullDisk(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	testkit.Must(t, os.MkdirAll(s.Dir(), 0o755))
	path := filepath.Join(s.Dir(), lockName)
	testkit.Must(t, os.Symlink("/dev/full", path)) // a write to it fails as on a full disk
	testkit.Must(t, testkit.Value(s.Lock("operation"))(t).Release())
}

// TestLockInFolderOfAnotherUser: the error is that of the folder, not that of a missing file.
func TestLockInFolderOfAnotherUser(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	testkit.Must(t, os.MkdirAll(s.Dir(), 0o755))
	above := filepath.Dir(s.Dir())
	testkit.Must(t, errors.Join(os.Chmod(s.Dir(), 0o555), os.Chmod(above, 0o755), os.Chmod(filepath.Dir(above), 0o755)))
	testkit.Is(t, lockAsNobody(s), fs.ErrPermission, "a folder of another user")
}

// lockAsNobody locks and releases the store as another user, if the tests are root's.
func lockAsNobody(s *Store) error {
	got := make(chan error)
	go func() {
		if os.Geteuid() == 0 {
			runtime.LockOSThread() // and never unlock it: the thread ends with the goroutine
			if err := unix.Setfsuid(nobody); err != nil {
				got <- err
				return
			}
		}
		l, err := s.Lock("operation")
		if err == nil {
			err = l.Release()
		}
		got <- err
	}()
	return <-got
}
