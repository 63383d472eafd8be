package sample_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
	"hdqs/loader"
	"hdqs/loader/catalogfile"
	"hdqs/loader/sample"
)

// maxBytes bounds the sample, which is embedded in the program.
const maxBytes = 4 << 20

func TestSampleIsWhatTheGeneratorWrites(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the generator")
	}
	dir := t.TempDir()
	run := exec.Command("go", "run", "./cmd/generate", "catalog", "--scale", "0", "--seed", "1", "--out", dir)
	run.Dir = filepath.Join("..", "..")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("generator: %v\n%s", err, out)
	}
	want := readAll(t, os.DirFS(dir))
	got := readAll(t, sample.FS)
	size := 0
	for path, text := range want {
		if !bytes.Equal(got[path], text) {
			t.Errorf("%s differs from what the generator writes; make golden renews it", path)
		}
		size += len(text)
	}
	for path := range got {
		if want[path] == nil {
			t.Errorf("%s is not written by the generator any more", path)
		}
	}
	if size > maxBytes {
		t.Errorf("the sample has %d bytes, at most %d", size, maxBytes)
	}
}

func readAll(t *testing.T, from fs.FS) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := fs.WalkDir(from, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		all[path], err = fs.ReadFile(from, path)
		return err
	})
	testkit.Must(t, err)
	return all
}

// TestThemesAreGenerated checks that the generator, which writes the sample and the catalogs of
// other tests, has rows of every theme that the loader reads. The tests of loader leave out themes
// without rows, so that a new theme can be tested before it has them.
func TestThemesAreGenerated(t *testing.T) {
	t.Parallel()
	for _, in := range loader.Inputs() {
		if !catalogfile.IsReference(in.Role) && !slices.Contains(generator.Roles(), in.Role) {
			t.Errorf("the generator has no rows for theme %s: see \"The sample\" in docs/adding-a-list.md", in.Role)
		}
	}
}
