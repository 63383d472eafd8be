package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// TestPurgeKeys: every command that moves a channel prints the keys that `hdqs diff` gives for the
// same two snapshots, and no keys if nothing changes.
func TestPurgeKeys(t *testing.T) {
	parallel(t)
	files, store := newCatalog(t, 1), filepath.Join(t.TempDir(), "store")
	build := []string{"build", "--catalog", files, "--store", store}
	purged := func(out string) []string {
		if m := regexp.MustCompile(`(?m)^purge: (.*)\n\z`).FindStringSubmatch(out); m != nil {
			return strings.Fields(m[1])
		}
		if strings.Contains(out, "purge") {
			t.Errorf("the keys are not at the end: %s", out)
		}
		return nil
	}
	if keys := purged(mustExit(t, 0, append(build, "--snapshot-time", buildTime)...).stdout); keys != nil {
		t.Errorf("the first snapshot: %q", keys)
	}
	first, _ := inspect(t, store)
	changeRows(t, files, "poverty-rate")
	built := purged(mustExit(t, 0, append(build, "--snapshot-time", "2026-11-22T00:00:00Z")...).stdout)
	if !slices.Contains(built, "ep-poverty-rate") || !slices.Contains(built, "landing") ||
		slices.Contains(built, "ep-funding") {
		t.Errorf("a load: %q", built)
	}
	second, _ := inspect(t, store)
	type withKeys struct{ Purge []string }
	diff := mustExit(t, 0, "diff", "--store", store, "--json", first.ID, second.ID).stdout
	want := decode[withKeys](t, []byte(diff)).Purge
	for what, keys := range map[string][]string{
		"build":    built,
		"diff":     purged(mustExit(t, 0, "diff", "--store", store, first.ID, second.ID).stdout),
		"rollback": purged(mustExit(t, 0, "rollback", "--store", store).stdout),
		"publish":  purged(mustExit(t, 0, "publish", "--store", store, second.ID).stdout),
	} {
		if !slices.Equal(keys, want) {
			t.Errorf("%s: %q, want %q", what, keys, want)
		}
	}
	canary := mustExit(t, 0, "publish", "--store", store, "--channel", "canary", first.ID).stdout
	if keys := purged(canary); keys != nil {
		t.Errorf("a new channel: %q", keys)
	}
	if keys := purged(mustExit(t, 0, append(build, "--snapshot-time", "2026-11-23T00:00:00Z")...).stdout); keys != nil {
		t.Errorf("a load that changes nothing: %q", keys)
	}
	changeRows(t, files, "funding")
	report := mustExit(t, 0, append(build, "--json", "--snapshot-time", "2026-11-24T00:00:00Z")...).stdout
	keys := decode[withKeys](t, []byte(report)).Purge
	if !slices.Contains(keys, "ep-funding") || slices.Contains(keys, "ep-poverty-rate") {
		t.Errorf("as JSON: %q", keys)
	}

	// Without the old manifest everything may have changed. That does not prevent a publication.
	third, _ := inspect(t, store)
	testkit.Must(t, os.Remove(filepath.Join(store, "manifests", third.ID+".json")))
	o := mustExit(t, 0, "publish", "--store", store, first.ID)
	if keys := purged(o.stdout); !slices.Equal(keys, []string{"all"}) || !strings.Contains(o.stderr, third.ID) {
		t.Errorf("without the old manifest: %q, %s", keys, o.stderr)
	}
}
