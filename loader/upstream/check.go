package upstream

import (
	"context"
	"io/fs"
	"os"
	"slices"

	"hdqs/loader"
)

// check reads a downloaded file as a load will, and returns the ids of the packages that its rows
// name.
func (o *Options) check(ctx context.Context, role, name, file string) (datasets []string, err error) {
	check := o.Check
	if check == nil {
		check = loaderCheck
	}
	datasets, err = check(ctx, role, name, file)
	datasets = slices.DeleteFunc(datasets, func(id string) bool { return !packageID.MatchString(id) })
	return datasets, err
}

func loaderCheck(ctx context.Context, role, name, file string) ([]string, error) {
	return loader.CheckFile(ctx, oneFile{name: name, file: file}, role, name)
}

// oneFile is a file system with one file, under its name in the catalog.
type oneFile struct{ name, file string }

// Open opens the file.
func (o oneFile) Open(name string) (fs.File, error) {
	if name != o.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return os.Open(o.file)
}
