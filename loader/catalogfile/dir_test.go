package catalogfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestDir opens files and folders through symbolic links: those that lead out of the folder are
// refused, and nothing of their target is in the message.
func TestDir(t *testing.T) {
	t.Parallel()
	outside, real := t.TempDir(), t.TempDir()
	testkit.WriteFile(t, filepath.Join(outside, "secret.csv"), []byte("password"))
	testkit.WriteFile(t, filepath.Join(real, "idps", "a.csv"), []byte("a"))
	dir := filepath.Join(t.TempDir(), "catalog") // which may be a link itself
	testkit.Must(t, os.Symlink(real, dir))
	link := func(target, name string) { testkit.Must(t, os.Symlink(target, filepath.Join(real, name))) }
	link("a.csv", "idps/relative.csv")
	link(filepath.Join(real, "idps", "a.csv"), "idps/absolute.csv")
	link("relative.csv", "idps/twice.csv")
	link(filepath.Join(outside, "secret.csv"), "idps/out.csv")
	link("out.csv", "idps/out2.csv")
	link(outside, "funding")
	link("../../nothing", "idps/dangling.csv")
	link("loop.csv", "idps/loop.csv")
	files := Dir(dir)
	for name, ok := range map[string]bool{
		"idps/a.csv": true, "idps/relative.csv": true, "idps/absolute.csv": true, "idps/twice.csv": true,
		"idps/out.csv": false, "idps/out2.csv": false, "funding/secret.csv": false, "idps/dangling.csv": false,
		"idps/loop.csv": false, "../secret.csv": false, "/etc/passwd": false,
	} {
		data, err := ReadFile(files, name, 100)
		if (err == nil) != ok || ok && string(data) != "a" || err != nil && strings.Contains(err.Error(), "password") {
			t.Errorf("%s: %q, %v", name, data, err)
		}
		if strings.Contains(name, "out") && !strings.Contains(err.Error(), name+": not read, since a symbolic link") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := fs.ReadDir(files, "funding"); err == nil {
		t.Error("a folder outside was listed")
	}
	testkit.Must(t, os.Symlink(outside, filepath.Join(real, "packages")))
	if _, _, err := Find(files, func(role string) bool { return role == "idps" }); err == nil {
		t.Error("packages outside were looked for")
	}
}
