package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestNewChannel: a channel that is new in a store with other snapshots is named.
func TestNewChannel(t *testing.T) {
	parallel(t)
	kept := sampleStore(t)
	shown, _ := inspect(t, kept)
	testkit.Must(t, os.Remove(filepath.Join(kept, "channels", "stable.json")))
	const isNew = "channel stable is new, although the store has other snapshots"
	o := mustExit(t, 0, "publish", "--store", kept, shown.ID)
	if strings.Contains(o.stderr, isNew) {
		t.Errorf("the only snapshot: %s", o.stderr)
	}
	other := newCatalog(t, 2)
	build := []string{"build", "--catalog", other, "--store", kept, "--snapshot-time", "2026-11-28T01:02:00Z"}
	mustExitWith(t, noneEmpty, 0, append(build, "--allow-shrink")...)
	o = mustExit(t, 0, "publish", "--store", kept, "--channel", "stabel", shown.ID)
	if !strings.Contains(o.stderr, strings.ReplaceAll(isNew, "stable", "stabel")) {
		t.Errorf("a mistyped channel: %s", o.stderr)
	}
	testkit.Must(t, os.Remove(filepath.Join(kept, "channels", "stable.json")))
	if o = mustExitWith(t, noneEmpty, 0, build...); !strings.Contains(o.stderr, isNew) {
		t.Errorf("a channel whose file is gone: %s", o.stderr)
	}
}
