package replica

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"hdqs/internal/objects"
)

// Copied is what CopyTree did.
type Copied struct {
	Files int   `json:"files"` // of the tree
	Sent  int   `json:"sent"`  // files that were written
	Bytes int64 `json:"bytes"` // of the files that were written
}

// CopyTree copies the files of a directory that a target lacks. The file last, which lists the
// others, is written last. Other files of the target stay, since a reader may be using them. If a
// service has other ETags than the MD5 of the bytes, files are uploaded again.
func CopyTree(ctx context.Context, dir, last string, to objects.Store) (c Copied, err error) {
	from := objects.Dir(dir)
	all, err := from.List(ctx, "")
	if err != nil {
		return c, err
	}
	i := slices.IndexFunc(all, func(o objects.Object) bool { return o.Name == last })
	if i < 0 {
		return c, fmt.Errorf("%s: %w", from.Path(last), fs.ErrNotExist)
	}
	final := all[i]
	all = append(slices.Delete(all, i, i+1), final)
	// One list is faster than a request for each file. A directory may have folders beside the tree
	// that cannot be read.
	find := to.Stat
	if _, isDir := to.(objects.Dir); !isDir {
		there, err := listed(ctx, to, "")
		if err != nil {
			return c, err
		}
		find = func(_ context.Context, name string) (objects.Object, error) { return there[name], nil }
	}
	for _, o := range all {
		c.Files++
		there, err := find(ctx, o.Name)
		if err == nil && there.Bytes == o.Bytes && there.ETag != "" {
			if o, err = from.Stat(ctx, o.Name); err != nil {
				return c, err
			}
			if o.ETag == there.ETag {
				continue
			}
		}
		if err := objects.PutFile(ctx, to, o.Name, from.Path(o.Name)); err != nil {
			return c, err
		}
		c.Sent++
		c.Bytes += o.Bytes
	}
	return c, nil
}
