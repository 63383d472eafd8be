//go:build unix

package objects_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hdqs/internal/objects"
	"hdqs/internal/objects/objectstest"
	"hdqs/internal/testkit"
)

func TestDir(t *testing.T) {
	t.Parallel()
	objectstest.Run(t, func(t *testing.T) objectstest.Kind {
		dir := objects.Dir(t.TempDir())
		return objectstest.Kind{Store: dir, Write: func(name string, data []byte) {
			testkit.Must(t, os.MkdirAll(filepath.Dir(dir.Path(name)), 0o755))
			testkit.ReplaceFile(t, dir.Path(name), data)
		}}
	})
}

// TestIrregular: a named pipe is not opened, which would wait for a writer.
func TestIrregular(t *testing.T) {
	t.Parallel()
	dir := objects.Dir(t.TempDir())
	testkit.Must(t, syscall.Mkfifo(dir.Path("pipe"), 0o644))
	_, _, readErr := dir.Read(t.Context(), "pipe", "", 100)
	_, statErr := dir.Stat(t.Context(), "pipe")
	_, downloadErr := dir.Download(t.Context(), objects.Request{Name: "pipe"}, dir.Path("file"))
	for i, err := range []error{readErr, statErr, downloadErr} {
		testkit.Is(t, err, objects.ErrIrregular, "operation %d", i)
	}
	if all, err := dir.List(t.Context(), ""); err != nil || len(all) > 0 {
		t.Errorf("listed %v, %v", all, err)
	}
}

// TestGrowing: a file that grows while it is copied is not copied.
func TestGrowing(t *testing.T) {
	t.Parallel()
	dir := objects.Dir(t.TempDir())
	testkit.WriteFile(t, dir.Path("file"), []byte(strings.Repeat("1\n", 100_000)))
	q := objects.Request{Name: "file", Received: func(int64) {
		f, err := os.OpenFile(dir.Path("file"), os.O_APPEND|os.O_WRONLY, 0)
		testkit.Must(t, err)
		_, err = f.WriteString("2\n")
		testkit.Must(t, errors.Join(err, f.Close()))
	}}
	testkit.Fails(dir.Download(t.Context(), q, dir.Path("copy")))(t, objects.ErrMismatch, "Download")
}
