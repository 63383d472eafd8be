//go:build unix

package snapshot

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a file into memory, to be read only.
func mapFile(path string) (data []byte, unmap func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() // the mapping outlives it
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	size := info.Size()
	switch {
	case size == 0:
		return nil, nil, corruptf("%s is empty", path)
	case size != int64(int(size)):
		return nil, nil, fmt.Errorf("%s has %d bytes, more than this machine can address", path, size)
	}
	data, err = unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("map %s, %d bytes: %w", path, size, err)
	}
	return data, func() error { return unix.Munmap(data) }, nil
}

// lockFile takes a file's lock for as long as the file is open, or fails at once when another open file has it.
func lockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// isLocked tells whether lockFile failed because another has the lock.
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
