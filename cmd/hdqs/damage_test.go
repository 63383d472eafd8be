package main_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
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

// readOnly matches memory that only segments have: without a file or a name, and read-only.
var readOnly = regexp.MustCompile(`(?m)^([0-9a-f]+)-([0-9a-f]+) r--p 00000000 00:00 0 *$`)

// segmentBytes is the memory of segments of the process, in whole pages.
func (s *server) segmentBytes(t *testing.T) (n int64) {
	t.Helper()
	maps := testkit.ReadFile(t, fmt.Sprintf("/proc/%d/maps", s.cmd.Process.Pid))
	for _, m := range readOnly.FindAllSubmatch(maps, -1) {
		from, err1 := strconv.ParseInt(string(m[1]), 16, 64)
		end, err2 := strconv.ParseInt(string(m[2]), 16, 64)
		testkit.Must(t, errors.Join(err1, err2))
		n += end - from
	}
	return n
}

// pagesOf is the memory that the segments of the snapshot take that a store's channel shows.
func pagesOf(t *testing.T, store string) (n int64) {
	t.Helper()
	view, _ := inspect(t, store)
	page := int64(os.Getpagesize())
	for _, table := range view.Tables {
		info, err := os.Stat(filepath.Join(store, "segments", table.SHA256+".seg"))
		if err != nil {
			t.Fatal(err)
		}
		n += (info.Size() + page - 1) / page * page
	}
	return n
}

// TestSegmentsOverSwaps: after each of many swaps a replica has the segments of the served snapshot
// in memory, and no others.
func TestSegmentsOverSwaps(t *testing.T) {
	parallel(t)
	store := sampleStore(t)
	pointer := filepath.Join(store, "channels", "stable.json")
	pointers, pages := [2][]byte{testkit.ReadFile(t, pointer)}, [2]int64{pagesOf(t, store)}
	s := serve(t, "--store", store, "--snapshot-poll", "1h", "--keep-previous", "0s")
	buildOther(t, store, "2026-12-01T00:00:00Z")
	pointers[1], pages[1] = testkit.ReadFile(t, pointer), pagesOf(t, store)
	if n := s.segmentBytes(t); n != pages[0] {
		t.Fatalf("segments of %d bytes are in memory, the snapshot has %d", n, pages[0])
	}
	for i := range 20 {
		next := (i + 1) % 2
		testkit.Must(t, os.WriteFile(pointer, pointers[next], 0o600))
		s.signalAndWait(t, "a swap", "snapshot swapped")
		s.fingerprints(t)
		testkit.WaitFor(t, "the memory of the replaced snapshot to be free", func() bool {
			return s.segmentBytes(t) == pages[next]
		})
	}
}

// TestCopyDamaged damages the copy of a remote store between two starts. The replica downloads the
// segment again by itself.
func TestCopyDamaged(t *testing.T) {
	parallel(t)
	store, data := sampleStore(t), t.TempDir()
	f := newFaultyServer(t, "web", store)
	s := serveWith(t, nil, f.args(data)...)
	want := s.fingerprints(t)
	s.stop(t)
	path := filepath.Join(data, "store", "segments", filepath.Base(segmentOf(t, store, "conflict_event")))
	sound := testkit.ReadFile(t, path)
	testkit.Must(t, overwrite(path, flipBit(len(sound)/2)(sound)))
	s = serveWith(t, nil, f.args(data)...)
	for i, got := range s.fingerprints(t) {
		if got != want[i] {
			t.Errorf("%s: not the answer from before", swapRequests[i].path)
		}
	}
	if string(testkit.ReadFile(t, path)) != string(sound) {
		t.Error("the downloaded file has other bytes")
	}
}
