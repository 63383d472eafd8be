package main_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hdqs/internal/testkit"
)

// TestFilesChangedUnderLoad truncates, overwrites and removes the files of a served store, and then
// the whole store, during requests. Each answer is as before.
func TestFilesChangedUnderLoad(t *testing.T) {
	parallel(t)
	store := sampleStore(t)
	files, err := filepath.Glob(filepath.Join(store, "segments", "*.seg"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	s := serve(t, "--store", store, "--snapshot-poll", "1h", "--body-cache", "0")
	want := s.fingerprints(t)
	var c callers
	c.start(4, s, func(i int, a answer, err error) bool {
		if err != nil || fingerprint(&a) != want[i] {
			t.Errorf("%s: %v, %d with %d bytes, which is not what was answered before: %.200s",
				swapRequests[i].path, err, a.status, len(a.body), a.body)
			return false
		}
		return true
	})
	t.Cleanup(c.end)
	for name, change := range map[string]func(path string) error{
		"truncated":   func(path string) error { return os.Truncate(path, 100) },
		"overwritten": func(path string) error { return overwrite(path, make([]byte, 64<<10)) },
		"removed":     os.Remove,
	} {
		for _, path := range files {
			if err := change(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		before := c.asked.Load()
		testkit.WaitFor(t, "requests after files were "+name, func() bool {
			return c.asked.Load() > before+200 || t.Failed()
		})
	}
	testkit.Must(t, os.RemoveAll(store))
	for i, got := range s.fingerprints(t) {
		if got != want[i] {
			t.Errorf("%s: not the answer from before", swapRequests[i].path)
		}
	}
	c.end()
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.log)
	}
}

// overwrite writes to a file in place, which is not shorter at any time.
func overwrite(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	return errors.Join(err, f.Close())
}
