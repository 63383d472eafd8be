package main_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// TestDryRunNeedsNoLock: a dry run works on a store that somebody else is writing to, or that
// cannot be written to. Writers are warned of a channel whose time is in the future, and root of a
// store of another user.
func TestDryRunNeedsNoLock(t *testing.T) {
	parallel(t)
	dir := copyStore(t, smallStore(t))
	st, err := store.Open(dir)
	testkit.Must(t, err)
	lock, err := st.Lock("a test")
	testkit.Must(t, err)
	mustExit(t, 1, "gc", "--store", dir)
	mustExit(t, 0, "gc", "--store", dir, "--dry-run", "--grace", "0")
	testkit.Must(t, lock.Release())
	p, err := st.Channels.Channel("stable")
	testkit.Must(t, err)
	testkit.Must(t, st.Channels.Publish("stable", p.ID, time.Now().AddDate(4, 0, 0)))
	if o := mustExit(t, 1, "status", "--fleet", "--store", dir); !strings.Contains(o.stdout, "which is in the future") {
		t.Errorf("no warning: %s", o.stdout)
	}
	if os.Geteuid() == 0 {
		testkit.Must(t, os.Chown(dir, 65534, 65534))
		if o := mustExit(t, 0, "gc", "--store", dir); !strings.Contains(o.stderr, dir+" belongs to another user") {
			t.Errorf("no warning of the owner: %s", o.stderr)
		}
	}
	if o := mustExit(t, 1, "rollback", "--store", dir); !strings.Contains(o.stderr, "which is in the future") {
		t.Errorf("no warning: %s", o.stderr)
	}
}
