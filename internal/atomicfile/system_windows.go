package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// pendingFile does what the library does, which has nothing for Windows.
type pendingFile struct {
	*os.File
	path   string
	closed bool
}

// newPending opens the file so that it can be renamed while it is open, which os.CreateTemp does
// not.
func newPending(path string) (*pendingFile, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path))
	if err != nil {
		return nil, err
	}
	name := f.Name()
	text, err := windows.UTF16PtrFromString(name)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	const shared = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	handle, err := windows.CreateFile(text, windows.GENERIC_READ|windows.GENERIC_WRITE, shared, nil,
		windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &pendingFile{File: os.NewFile(uintptr(handle), name), path: path}, nil
}

func (p *pendingFile) CloseAtomicallyReplace() error {
	if err := p.Sync(); err != nil {
		return err
	}
	p.closed = true
	if err := p.Close(); err != nil {
		return err
	}
	return os.Rename(p.Name(), p.path)
}

// Cleanup does nothing after the file has got its name.
func (p *pendingFile) Cleanup() error {
	if p.closed {
		return nil
	}
	p.closed = true
	return errors.Join(p.Close(), os.Remove(p.Name()))
}

func replaceLink(to, path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Symlink(to, path)
}

// lockedAt is the place of the one byte that is locked: others may not read or write what is
// locked, so it lies where no file has bytes.
var lockedAt = windows.Overlapped{OffsetHigh: 1 << 30}

// TryLock locks a file for as long as it stays open, and fails at once when another open file has
// the lock.
func TryLock(f *os.File) error {
	at := lockedAt
	return windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
}

// IsLocked reports whether TryLock failed because another open file has the lock.
func IsLocked(err error) bool { return errors.Is(err, windows.ERROR_LOCK_VIOLATION) }

// lockPath locks nothing: a second open file would keep the first one from being renamed. Removing
// the file of a writer that lives fails here by itself.
func lockPath(string) (*os.File, error) { return nil, nil }

// SyncDir does nothing: names of files are durable with the file, and directories cannot be synced.
func SyncDir(string) error { return nil }

func giveToOwner(string) {} // rights are those of the folder

// IsOwn is true: each user has a folder for temporary files.
func IsOwn(fs.FileInfo) bool { return true }
