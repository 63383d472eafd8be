package main_test

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// mountDead mounts a file system on which every access hangs until it is unmounted: a FUSE one that
// no program answers for. It skips the test if this is not allowed.
func mountDead(t *testing.T) string {
	t.Helper()
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no FUSE: %v", err)
	}
	dir := t.TempDir()
	o := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d", device.Fd(), os.Getuid(), os.Getgid())
	if err := unix.Mount("hdqs-test", dir, "fuse", 0, o); err != nil {
		device.Close()
		t.Skipf("mounting is not allowed: %v", err)
	}
	t.Cleanup(func() {
		// Closing the device fails all accesses that hang.
		if err := device.Close(); err != nil {
			t.Error(err)
		}
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}
