package replica

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"hdqs/snapshot/store"
)

// Collect removes what no channel of the remote store needs: see store.Collect.
func (r *Remote) Collect(ctx context.Context, o store.CollectOptions) (*store.Collected, error) {
	return store.Collect(shelf{ctx: ctx, remote: r}, o)
}

// shelf is a remote store for a collection. It holds the collection's context, with which it ends.
type shelf struct {
	ctx    context.Context
	remote *Remote
}

// List is Shelf.List.
func (s shelf) List(folder string) ([]store.Object, error) {
	entries, err := s.remote.objects.list(s.ctx, folder)
	if err != nil {
		return nil, s.remote.in(folder, err)
	}
	var all []store.Object
	for _, e := range entries {
		all = append(all, e.Object)
	}
	return all, nil
}

// Read is Shelf.Read.
func (s shelf) Read(name string, limit int64) ([]byte, error) {
	data, _, err := s.remote.objects.read(s.ctx, name, "", limit)
	if err != nil {
		return nil, s.remote.in(name, err)
	}
	return data, nil
}

// Remove is Shelf.Remove. The object is looked at once more: Push writes anew what it is going to need.
func (s shelf) Remove(o store.Object) (bool, error) {
	now, err := s.remote.objects.stat(s.ctx, o.Name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !now.Modified.Truncate(time.Second).Equal(o.Modified.Truncate(time.Second)) {
		return false, nil
	}
	if err == nil {
		err = s.remote.objects.remove(s.ctx, o.Name)
	}
	if err != nil {
		return false, s.remote.in(o.Name, err)
	}
	return true, nil
}
