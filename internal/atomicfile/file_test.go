package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hdqs/internal/testkit"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries := testkit.Value(os.ReadDir(dir))(t)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	testkit.EqualLists(t, names(t, dir), want, "the directory holds")
}

func create(t *testing.T, path string) *File {
	t.Helper()
	return testkit.Value(Create(path))(t)
}

func TestWriteReplaces(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "directory")
	path := filepath.Join(dir, "a.json")
	for _, content := range []string{"first", "", "second"} {
		testkit.Must(t, Write(path, []byte(content)))
		testkit.Equal(t, string(testkit.ReadFile(t, path)), content, "the file")
	}
	testkit.Equal(t, testkit.Value(os.Stat(path))(t).Mode(), 0o644, "mode")
	wantNames(t, dir, "a.json")
}

func TestFailedWriteLeavesOldFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	testkit.Must(t, Write(path, []byte("old")))
	broken := errors.New("broken reader")
	testkit.Is(t, WriteFrom(path, &failingReader{err: broken}), broken, "error")
	if got, err := os.ReadFile(path); string(got) != "old" {
		t.Errorf("the file holds %q, %v; want the old content", got, err)
	}
	wantNames(t, dir, "a.json")
}

// failingReader fails after its first bytes.
type failingReader struct {
	err  error
	read bool
}

func (r *failingReader) Read(b []byte) (int, error) {
	if r.read {
		return 0, r.err
	}
	r.read = true
	return copy(b, "new"), nil
}

// TestTargetIsDirectory checks that a commit that fails leaves nothing.
func TestTargetIsDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testkit.Must(t, os.MkdirAll(filepath.Join(dir, "a.json", "full"), 0o755))
	if err := Write(filepath.Join(dir, "a.json"), []byte("text")); err == nil {
		t.Error("a directory was replaced by a file")
	}
	f := create(t, filepath.Join(dir, "segment"))
	if err := f.CommitAs(filepath.Join(dir, "a.json")); err == nil {
		t.Error("a directory was replaced by a file")
	}
	testkit.Must(t, f.Discard())
	wantNames(t, dir, "a.json")
}

func TestCommitAs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := create(t, filepath.Join(dir, "segment"))
	testkit.Value(f.Write([]byte("text")))(t)
	testkit.Must(t, f.CommitAs(filepath.Join(dir, "digest")))
	testkit.Is(t, f.Discard(), nil, "Discard after CommitAs")
	wantNames(t, dir, "digest")
}

func TestWriteErrorHasCount(t *testing.T) {
	t.Parallel()
	f := create(t, filepath.Join(t.TempDir(), "a"))
	defer f.Discard()
	testkit.Value(f.Write([]byte("text")))(t)
	f.OS().Close()
	if _, err := f.Write([]byte("more")); err == nil || !strings.Contains(err.Error(), "after 4 bytes") {
		t.Errorf("error %v, want the number of bytes before it", err)
	}
}

// TestSweepRemovesLeftovers covers the names of this and of earlier releases. Files that are young,
// that have names of another form, or that are no regular files stay.
func TestSweepRemovesLeftovers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := time.Now().Add(-2 * leftoverAge)
	leave := func(name string, at time.Time) {
		t.Helper()
		path := filepath.Join(dir, name)
		testkit.Must(t, errors.Join(os.WriteFile(path, []byte("cut"), 0o600), os.Chtimes(path, at, at)))
	}
	f := create(t, filepath.Join(dir, "stable.json"))
	mine := filepath.Base(f.Name())
	testkit.Must(t, f.Discard())
	leave(mine, old)
	leave(".tmp-123456789", old)
	leave(".part-1234567890", old)
	leave(".memory-4033249031", old)
	leave("file.json123456789", old)
	leave(".hidden", old)
	leave(".year2026", old)
	leave(".young.json123456789", time.Now())
	testkit.Must(t, os.Mkdir(filepath.Join(dir, ".tree-123456789"), 0o755))
	testkit.Must(t, Sweep(dir))
	wantNames(t, dir, ".hidden", ".tree-123456789", ".year2026", ".young.json123456789", "file.json123456789")
}

// TestSweepSparesWriters: a temporary file that its writer holds open is not removed, however old
// it is.
func TestSweepSparesWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := time.Now().Add(-24 * time.Hour)
	var pending []*File
	for _, name := range []string{"a.json", "c"} {
		f := create(t, filepath.Join(dir, name))
		defer f.Discard()
		testkit.Must(t, os.Chtimes(f.Name(), old, old))
		pending = append(pending, f)
	}
	testkit.Must(t, Write(filepath.Join(dir, "b.json"), []byte("{}")))
	testkit.Is(t, pending[0].Commit(), nil, "a slow writer lost its file")
	testkit.Is(t, pending[1].CommitAs(filepath.Join(dir, "c.seg")), nil, "a slow writer lost its file")
	wantNames(t, dir, "a.json", "b.json", "c.seg")
}
