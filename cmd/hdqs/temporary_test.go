package main_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"hdqs/internal/testkit"
)

// TestLeftovers: a start without a store removes the temporary folders of killed processes, and
// those only.
func TestLeftovers(t *testing.T) {
	parallel(t)
	tmp := t.TempDir()
	env := []string{"TMPDIR=" + tmp}
	folders := func(want int) []string {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(tmp, "hdqs-sample-*"))
		if err != nil || len(found) != want {
			t.Fatalf("folders %q, %v; want %d", found, err, want)
		}
		return found
	}
	begin := func() *server { return serveWith(t, env, "--listen", "0") }
	old := time.Now().Add(-time.Hour)
	killed := begin()
	first := folders(1)[0]
	killed.kill()
	running := begin()
	folders(2) // the first may be that of a process that is starting
	for _, path := range folders(2) {
		testkit.Must(t, os.Chtimes(filepath.Join(path, "lock"), old, old))
	}
	last := begin()
	if _, err := os.Stat(first); err == nil {
		t.Error("the folder of the killed server is still there")
	}
	folders(2)
	running.mustAnswer(t)
	for _, s := range []*server{running, last} {
		if code := s.stop(t); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}
	folders(0)
}
