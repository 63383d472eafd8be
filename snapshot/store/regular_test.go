//go:build unix

package store

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// TestOnlyRegularFilesAreOpened replaces each file of a store by a named pipe. Opening the pipe
// would wait for a writer, until -timeout ends the test; the store refuses it instead.
func TestOnlyRegularFilesAreOpened(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"channels/current.json", "manifests/s1.json", "segments/*.seg"} {
		s := newStore(t)
		putSnapshot(t, s, "s1", smallTable("n", 1))
		testkit.Must(t, s.Channels.Publish("current", "s1", noon))
		found, err := filepath.Glob(filepath.Join(s.Snapshots.dir, filepath.FromSlash(pattern)))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %q, %v", pattern, found, err)
		}
		testkit.Must(t, errors.Join(os.Remove(found[0]), syscall.Mkfifo(found[0], 0o644)))
		for what, read := range map[string]func() error{
			"opening": func() error {
				p, err := s.Channels.Channel("current")
				if err == nil {
					_, err = s.Snapshots.OpenPointer(p, nil)
				}
				return err
			},
			"verifying": func() error { return s.Verify("s1") },
		} {
			testkit.Is(t, read(), snapshot.ErrCorrupt, "%s with a pipe as %s", what, pattern)
		}
	}
}

// TestAcquire closes a snapshot while another handle on it is in use.
func TestAcquire(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	putSnapshot(t, s, "s1", smallTable("n", 1))
	snap := testkit.Value(s.Snapshots.Open("s1"))(t)
	other := snap.Acquire()
	testkit.Must(t, snap.Close())
	again := testkit.Value(s.Snapshots.OpenAfter("s1", other))(t)
	if again.Segments["n"] != other.Segments["n"] {
		t.Error("the segment was mapped again, want the shared one")
	}
	testkit.Equal(t, testkit.Value(other.Segments["n"].Column("n"))(t).Int(1), 2, "the second row")
	testkit.Must(t, errors.Join(other.Close(), again.Close()))
}
