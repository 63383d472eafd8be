//go:build linux

package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hdqs/internal/testkit"
)

// TestDiskFullAndReadOnly: a load onto a full or read-only file system fails with the store's name
// and the reason. The old snapshot stays complete and served, and the next load succeeds once there
// is room. It needs root to make a file system of a given size.
func TestDiskFullAndReadOnly(t *testing.T) {
	parallel(t)
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a file system of a given size")
	}
	disk := t.TempDir()
	mount := func(flags uintptr) {
		t.Helper()
		testkit.Must(t, syscall.Mount("tmpfs", disk, "tmpfs", flags, "size=8m"))
	}
	mount(0)
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	store := filepath.Join(disk, "store")
	load := func(code int, seed uint64) cmdResult {
		t.Helper()
		return mustExit(t, code, "build", "--catalog", newCatalog(t, seed), "--store", store,
			"--snapshot-time", buildTime, "--allow-shrink")
	}
	load(0, 1)
	before := stored(t, store)
	s := serve(t, "--store", store)
	id := s.snapshotID(t)
	whole := func(what string) {
		t.Helper()
		mustExit(t, 0, "verify", "--store", store)
		now := stored(t, store)
		for name, file := range before {
			if !bytes.Equal(now[name].data, file.data) {
				t.Errorf("%s: %s has changed", what, name)
			}
		}
		s.signal(t, syscall.SIGHUP)
		if served := s.snapshotID(t); served != id {
			t.Errorf("%s: snapshot %s is served, want %s", what, served, id)
		}
	}

	filler := filepath.Join(disk, "filler")
	var fs syscall.Statfs_t
	testkit.Must(t, syscall.Statfs(disk, &fs))
	const room = 64 << 10 // enough for some of the segments
	testkit.WriteFile(t, filler, bytes.Repeat([]byte{1}, int(fs.Bavail)*int(fs.Bsize)-room))
	full := load(1, 2)
	if !strings.Contains(full.stderr, "no space left") || !strings.Contains(full.stderr, store) {
		t.Errorf("a load onto a full disk: %s", full.stderr)
	}
	whole("full disk")

	mount(syscall.MS_REMOUNT | syscall.MS_RDONLY)
	readOnly := load(1, 2)
	if !strings.Contains(readOnly.stderr, "read-only") || !strings.Contains(readOnly.stderr, store) {
		t.Errorf("a load onto a read-only disk: %s", readOnly.stderr)
	}
	whole("read-only disk")

	mount(syscall.MS_REMOUNT)
	testkit.Must(t, os.Remove(filler))
	load(0, 2)
	mustExit(t, 0, "verify", "--store", store)
}
