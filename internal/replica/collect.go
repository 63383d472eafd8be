package replica

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"hdqs/snapshot/store"
)

// Inventory is the remote store as Collect sees it.
func (r *Remote) Inventory(ctx context.Context) store.Inventory {
	return remoteFiles{ctx: ctx, remote: r}
}

// remoteFiles adapts a remote store to the interface of store.Collect, which has no contexts.
type remoteFiles struct {
	ctx    context.Context
	remote *Remote
}

// List returns the files of a folder.
func (f remoteFiles) List(folder string) ([]store.Object, error) {
	var entries []entry
	err := f.remote.limit(f.ctx, "listing "+folder, func(ctx context.Context) (err error) {
		entries, err = f.remote.objects.list(ctx, folder)
		return err
	})
	if err != nil {
		return nil, f.remote.wrap(folder, err)
	}
	var all []store.Object
	for _, e := range entries {
		all = append(all, e.Object)
	}
	return all, nil
}

// Read returns a file of at most limit bytes.
func (f remoteFiles) Read(name string, limit int64) ([]byte, error) {
	return f.remote.read(f.ctx, name, limit)
}

// Remove deletes an object unless it was rewritten since it was listed: Push rewrites the old
// segments that it is going to use.
func (f remoteFiles) Remove(o store.Object) (bool, error) {
	now, err := f.remote.objects.stat(f.ctx, o.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && !now.Modified.Truncate(time.Second).Equal(o.Modified.Truncate(time.Second)) {
		return false, nil
	}
	if err == nil {
		err = f.remote.objects.remove(f.ctx, o.Name)
	}
	if err != nil {
		return false, f.remote.wrap(o.Name, err)
	}
	return true, nil
}
