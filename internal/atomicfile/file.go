package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that does not have its final name yet.
type File struct {
	pending *pendingFile
	lock    *os.File // a second descriptor: the library closes the first one before it renames the file
	path    string
	written int64
}

// Create opens a file that Commit will name path. It makes the directory if there is none, and
// removes what killed processes have left in it. The caller ends with Discard, which does nothing
// after a commit.
func Create(path string) (*File, error) {
	dir := filepath.Dir(path)
	if err := MkdirAll(dir); err != nil {
		return nil, err
	}
	if err := Sweep(dir); err != nil {
		return nil, err
	}
	pending, err := newPending(path)
	if err != nil {
		return nil, err
	}
	f := &File{pending: pending, path: path}
	if f.lock, err = lockPath(f.Name()); err == nil {
		giveToOwner(f.Name())
		err = f.OS().Chmod(0o644) // whatever the umask: the server may run as another user than the loader
	}
	if err != nil {
		return nil, errors.Join(err, f.Discard())
	}
	return f, nil
}

// Write appends to the file. An error says how many bytes were written before it.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.OS().Write(b)
	f.written += int64(n)
	if err != nil {
		err = fmt.Errorf("%w, after %d bytes", err, f.written)
	}
	return n, err
}

// Name is the temporary name.
func (f *File) Name() string { return f.pending.Name() }

// OS is the open file, for callers that need more than Write.
func (f *File) OS() *os.File { return f.pending.File }

// Commit makes the file durable under the name that was given to Create, and replaces what had that
// name.
func (f *File) Commit() error {
	if err := f.pending.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(f.path))
}

// CommitAs is Commit under another name in the same directory, for names that depend on the
// content.
func (f *File) CommitAs(path string) error {
	if err := f.OS().Sync(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Discard closes the file, and removes it if it was not committed.
func (f *File) Discard() error {
	err := f.pending.Cleanup()
	if f.lock != nil {
		f.lock.Close() // opened for reading
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // CommitAs has renamed it
	}
	return err
}

// Write writes a file in one step: its name shows either the old content or the new one.
func Write(path string, data []byte) error { return WriteFrom(path, bytes.NewReader(data)) }

// WriteFrom is Write with what a reader holds.
func WriteFrom(path string, from io.Reader) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := io.Copy(f, from); err != nil {
		return err
	}
	return f.Commit()
}

// MkdirAll makes a directory with its parents, and makes their names durable.
func MkdirAll(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := MkdirAll(parent); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { // another process may have made it
		return err
	}
	giveToOwner(dir)
	return SyncDir(parent)
}

// Symlink makes or replaces a symbolic link in one step.
func Symlink(to, path string) error {
	if err := replaceLink(to, path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}
