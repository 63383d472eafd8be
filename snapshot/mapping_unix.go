//go:build unix

package snapshot

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func mapFile(path string) (m mapping, err error) {
	f, err := os.Open(path)
	if err != nil {
		return m, err
	}
	if m, err = mapOpen(f); err != nil {
		return m, errors.Join(err, f.Close())
	}
	return m, nil
}

func mapOpen(f *os.File) (m mapping, err error) {
	if m.opened, err = f.Stat(); err != nil {
		return m, err
	}
	size := m.opened.Size()
	switch {
	case size == 0:
		return m, corruptf("%s is empty", f.Name())
	case size != int64(int(size)):
		return m, fmt.Errorf("%s has %d bytes, more than this machine can address", f.Name(), size)
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return m, fmt.Errorf("map %s, %d bytes: %w", f.Name(), size, err)
	}
	m.data, m.file = data, f
	m.unmap = func() error { return errors.Join(unix.Munmap(data), f.Close()) }
	return m, nil
}
