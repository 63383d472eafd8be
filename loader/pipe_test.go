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

	"hdqs/internal/testkit"
)

// TestNamedPipes puts a named pipe in the place of each kind of file. Opening the pipe would wait
// for a writer, until -timeout ends the test; the load refuses the file at once.
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
			o := Options{Catalog: os.DirFS(dir), Store: openStore(t), SnapshotTime: someDay}
			report, err := Build(t.Context(), o)
			switch {
			case fatal:
				if err == nil || !strings.Contains(err.Error(), why) {
					t.Errorf("got %v, want %q", err, why)
				}
			case err != nil:
				t.Error(err)
			case len(report.Refused) != 1 || report.Refused[0].Why != path+": "+why:
				t.Errorf("refused: %+v, want %s: %s", report.Refused, path, why)
			}
		})
	}
}
