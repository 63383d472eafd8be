//go:build unix

package snapshot

import (
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
