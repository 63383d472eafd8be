//go:build unix

package loader

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hdqs/internal/testkit"
)

// TestNamedPipes puts a named pipe in the place of each kind of file. Opening the pipe would wait
// for a writer; the load refuses the file at once.
func TestNamedPipes(t *testing.T) {
	t.Parallel()
	const why = "not a regular file but a named pipe"
	for path, fatal := range map[string]bool{
		"idps/a.csv": false, "packages/pipe.json": false, "catalog.json": true, "reference/pcodes.csv": true,
		"location_view.csv": true,
	} {
		t.Run(strings.ReplaceAll(path, "/", " "), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, file := range smallWorld(t) {
				testkit.WriteFile(t, filepath.Join(dir, name), file.Data)
			}
			pipe := filepath.Join(dir, filepath.FromSlash(path))
			if err := os.Remove(pipe); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			testkit.Must(t, syscall.Mkfifo(pipe, 0o644))
			type outcome struct {
				report *Report
				err    error
			}
			done := make(chan outcome, 1)
			st := openStore(t)
			go func() {
				report, err := Build(t.Context(), Options{Catalog: os.DirFS(dir), Store: st, SnapshotTime: someDay})
				done <- outcome{report, err}
			}()
			var got outcome
			select {
			case got = <-done:
			case <-time.After(testkit.Patience):
				t.Fatal("the load waits for a writer of the pipe")
			}
			switch {
			case fatal:
				if got.err == nil || !strings.Contains(got.err.Error(), why) {
					t.Errorf("got %v, want %q", got.err, why)
				}
			case got.err != nil:
				t.Error(got.err)
			case len(got.report.Refused) != 1 || got.report.Refused[0].Why != path+": "+why:
				t.Errorf("refused: %+v, want %s: %s", got.report.Refused, path, why)
			}
		})
	}
}
