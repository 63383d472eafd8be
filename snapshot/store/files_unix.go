//go:build unix

package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile locks a file for as long as it is open. It fails at once when another open file has the lock.
func lockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// isLocked reports whether lockFile failed because another process or goroutine has the lock.
func isLocked(err error) bool { return errors.Is(err, unix.EWOULDBLOCK) }

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
