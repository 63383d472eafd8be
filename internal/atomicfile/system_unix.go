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

// giveToOwner gives what root makes to the owner of its folder, such as the user of a service, who
// could not replace it. What a link leads to stays as it is.
func giveToOwner(path string) {
	if folder, err := os.Stat(filepath.Dir(path)); err == nil && os.Geteuid() == 0 {
		owner := folder.Sys().(*syscall.Stat_t)
		_ = os.Lchown(path, int(owner.Uid), int(owner.Gid)) // not where root lacks that right
	}
}

// IsOwn reports whether a file belongs to the user of this process.
func IsOwn(info fs.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Getuid()
}
