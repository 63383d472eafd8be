//go:build linux

package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"hdqs/internal/testkit"
)

// openFile writes a table to a file and opens it.
func openFile(t *testing.T, table *TableData) (s *Segment, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "table.seg")
	testkit.WriteFile(t, path, fileOf(t, table))
	s = testkit.Value(OpenSegment(path))(t)
	return s, path
}

// TestFileChanges: whatever happens to the file of an open segment, its content stays.
func TestFileChanges(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(path string) error{
		"truncated":   func(path string) error { return os.Truncate(path, 0) },
		"overwritten": func(path string) error { return os.WriteFile(path, make([]byte, 1<<20), 0o600) },
		"removed":     os.Remove,
	} {
		s, path := openFile(t, goldenTable())
		testkit.Must(t, change(path))
		testkit.Is(t, errors.Join(compareTable(s, goldenTable()), s.Verify()), nil, "%s", name)
		testkit.Must(t, s.Close())
	}
}

// TestMemoryIsGivenBack: the memory of a segment is mapped, and read-only, until the last Close. It
// is not parallel, since other tests could get the same addresses afterwards.
func TestMemoryIsGivenBack(t *testing.T) {
	s, _ := openFile(t, goldenTable())
	data := s.data
	mapped := func() error { return unix.Msync(data, unix.MS_ASYNC) }
	testkit.Must(t, errors.Join(s.Acquire().Close(), mapped()))
	testkit.Must(t, unix.Mprotect(data, unix.PROT_READ))
	testkit.Must(t, s.Close())
	testkit.Is(t, mapped(), unix.ENOMEM, "after Close")
}

// TestFileThatCannotBeRead: what cannot be read to its end is damaged, and an empty file is too.
func TestFileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty.seg")
	testkit.WriteFile(t, empty, nil)
	testkit.Fails(OpenSegment(empty))(t, ErrCorrupt, "an empty file")
	if _, err := OpenSegment("/proc/self/mem"); err == nil { // a file without a length
		t.Error("a file without a length is a segment")
	}
	if _, err := OpenSegment(filepath.Dir(empty)); !errors.Is(err, ErrCorrupt) { // reading a folder fails
		t.Errorf("a folder: %v", err)
	}
}

// TestInParallel: each number is given once, and one core is the caller's own.
func TestInParallel(t *testing.T) {
	t.Parallel()
	for _, cores := range []int{1, 3, 100} {
		seen := make([]int, 50)
		inParallel(cores, len(seen), func(i int) { seen[i]++ })
		for i, n := range seen {
			testkit.Equal(t, n, 1, "on %d cores: number %d was given times", cores, i)
		}
	}
}
