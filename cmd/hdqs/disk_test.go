//go:build linux

package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDiskFullAndReadOnly: a store that cannot be written fails the load, by name and with the bytes' reason, and what it holds stays whole and served; with
// room again the next load goes through. Only root can make a file system of a given size, so it is skipped for others.
func TestDiskFullAndReadOnly(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount a file system of a known size")
	}
	disk := t.TempDir()
	mount := func(flags uintptr) {
		t.Helper()
		if err := syscall.Mount("tmpfs", disk, "tmpfs", flags, "size=8m"); err != nil {
			t.Fatal(err)
		}
	}
	mount(0)
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	store := filepath.Join(disk, "store")
	load := func(code int, seed uint64) outcome {
		t.Helper()
		return wants(t, code, "build", "--catalog", newCatalog(t, seed), "--store", store, "--snapshot-time", buildTime, "--allow-shrink")
	}
	load(0, 1)
	before := stored(t, store)
	s := serve(t, "--store", store)
	id := s.snapshotID(t)
	whole := func(what string) {
		t.Helper()
		wants(t, 0, "verify", "--store", store)
		now := stored(t, store)
		for name, file := range before {
			if !bytes.Equal(now[name].data, file.data) {
				t.Errorf("%s: %s is not what it was", what, name)
			}
		}
		s.signal(t, syscall.SIGHUP)
		if served := s.snapshotID(t); served != id {
			t.Errorf("%s: snapshot %s is served, want %s", what, served, id)
		}
	}

	filler := filepath.Join(disk, "filler")
	var fs syscall.Statfs_t
	if err := syscall.Statfs(disk, &fs); err != nil {
		t.Fatal(err)
	}
	const room = 64 << 10 // for some segments, not for all
	writeFile(t, filler, bytes.Repeat([]byte{1}, int(fs.Bavail)*int(fs.Bsize)-room))
	full := load(1, 2)
	if !strings.Contains(full.errors, "no space left") || !strings.Contains(full.errors, store) {
		t.Errorf("a load onto a full disk says %s", full.errors)
	}
	whole("full disk")

	mount(syscall.MS_REMOUNT | syscall.MS_RDONLY)
	readOnly := load(1, 2)
	if !strings.Contains(readOnly.errors, "read-only") || !strings.Contains(readOnly.errors, store) {
		t.Errorf("a load onto a read-only disk says %s", readOnly.errors)
	}
	whole("read-only disk")

	mount(syscall.MS_REMOUNT)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	load(0, 2)
	wants(t, 0, "verify", "--store", store)
}
