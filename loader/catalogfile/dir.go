package catalogfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Dir is a catalog's folder. What a symbolic link leads to is read only if it lies in the folder
// too: a catalog need not be trusted, and messages show the first line of a file.
type Dir string

// Check refuses a path that leads out of the folder.
func (d Dir) Check(name string) error {
	folder, err := filepath.EvalSymlinks(string(d))
	if err != nil {
		return err
	}
	to, err := filepath.EvalSymlinks(filepath.Join(folder, filepath.FromSlash(name)))
	if err != nil {
		return nil // what opens it says why
	}
	if to, err = filepath.Rel(folder, to); err != nil || !filepath.IsLocal(to) {
		return fmt.Errorf("%s: not read, since a symbolic link leads out of the catalog's folder; "+
			"put a copy there", name)
	}
	return nil
}

// Open implements fs.FS.
func (d Dir) Open(name string) (fs.File, error) {
	if err := d.Check(name); err != nil {
		return nil, err
	}
	return os.DirFS(string(d)).Open(name)
}

// Stat implements fs.StatFS.
func (d Dir) Stat(name string) (fs.FileInfo, error) {
	if err := d.Check(name); err != nil {
		return nil, err
	}
	return fs.Stat(os.DirFS(string(d)), name)
}
