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
			if err := read(); !errors.Is(err, snapshot.ErrCorrupt) {
				t.Errorf("%s with a pipe as %s: %v, want ErrCorrupt", what, pattern, err)
			}
		}
	}
}

// TestAcquire closes a snapshot while another handle on it is in use.
func TestAcquire(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	putSnapshot(t, s, "s1", smallTable("n", 1))
	snap, err := s.Snapshots.Open("s1")
	testkit.Must(t, err)
	other := snap.Acquire()
	testkit.Must(t, snap.Close())
	again, err := s.Snapshots.OpenAfter("s1", other)
	testkit.Must(t, err)
	if again.Segments["n"] != other.Segments["n"] {
		t.Error("the segment was mapped again, want the shared one")
	}
	if n, err := other.Segments["n"].Column("n"); err != nil || n.Int(1) != 2 {
		t.Errorf("the second row of the segment: %v", err)
	}
	testkit.Must(t, errors.Join(other.Close(), again.Close()))
}
