//go:build unix

package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

type pendingFile = renameio.PendingFile

// Without WithTempDir the library writes files of its own to find out whether os.TempDir would do.
func newPending(path string) (*pendingFile, error) {
	return renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)))
}

func replaceLink(to, path string) error { return renameio.Symlink(to, path) }

// TryLock locks a file for as long as it stays open, and fails at once when another open file has
// the lock.
func TryLock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// IsLocked reports whether TryLock failed because another open file has the lock.
func IsLocked(err error) bool { return errors.Is(err, unix.EWOULDBLOCK) }

func lockPath(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := TryLock(f); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	return f, nil
}

// SyncDir makes the names in a directory durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close() // opened for reading
	return d.Sync()
}

// openDir opens a directory that is no symbolic link.
func openDir(dir string) (*os.File, error) {
	return os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
}

// giveToOwner gives what root makes to the owner of its folder, such as the user of a service, who
// could not replace it. Where root may not do that, it stays root's.
func giveToOwner(made *os.File, folder string) {
	if info, err := os.Stat(folder); err == nil && os.Geteuid() == 0 {
		owner := info.Sys().(*syscall.Stat_t)
		_ = made.Chown(int(owner.Uid), int(owner.Gid))
	}
}

// IsOwn reports whether a file belongs to the user of this process.
func IsOwn(info fs.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Getuid()
}
