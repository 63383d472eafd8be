package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// cleanups are what must be undone after a scenario, once its processes have ended: mounts and
// control groups.
type cleanups struct{ undo []func() error }

func (c *cleanups) later(undo func() error) { c.undo = append(c.undo, undo) }

// unmountLater unmounts a file system after the scenario.
func (c *cleanups) unmountLater(dir string) {
	c.later(func() error {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			return fmt.Errorf("unmounting %s: %w", dir, err)
		}
		return nil
	})
}

// cleanUp undoes everything.
func (c *cleanups) cleanUp() error {
	var errs []error
	for _, undo := range c.undo {
		errs = append(errs, undo())
	}
	c.undo = nil
	return errors.Join(errs...)
}

// mountDead mounts a file system on which every access hangs until it is unmounted: a FUSE one that
// no program answers for.
func (d *drill) mountDead() (dir string, err error) {
	if os.Geteuid() != 0 {
		return "", &notPossible{"only root may mount a dead file system"}
	}
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return "", &notPossible{fmt.Sprintf("no FUSE: %v", err)}
	}
	if dir, err = d.folder("dead"); err != nil {
		return "", errors.Join(err, device.Close())
	}
	o := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", device.Fd())
	if err := unix.Mount("hdqs-drill", dir, "fuse", 0, o); err != nil {
		return "", errors.Join(&notPossible{fmt.Sprintf("mounting is not allowed: %v", err)}, device.Close())
	}
	d.unmountLater(dir)
	d.later(device.Close) // which fails all accesses that hang
	return dir, nil
}
