package replica

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"hdqs/bulk"
	"hdqs/internal/objects"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// file is a file of a store that never changes: a segment, or a bulk file.
type file struct {
	store.SegmentRef
	name string // in a store, with slashes
}

func segmentsOf(m *store.Manifest) (all []file) {
	for _, ref := range m.Tables {
		all = append(all, file{ref, store.SegmentName(ref.SHA256)})
	}
	return all
}

func bulkFilesOf(m *bulk.Manifest) (all []file) {
	for f := range m.All {
		all = append(all, file{store.SegmentRef{Table: f.Path, SHA256: f.SHA256, Bytes: f.Bytes}, f.Name()})
	}
	return all
}

// pathIn is where a local store has the file.
func (f *file) pathIn(local *store.Store) string { return local.Snapshots.Path(f.name) }

// isIn reports whether a local store has the file: by its size or, with whole, by its content.
func (f *file) isIn(local *store.Store, whole bool) bool {
	return store.HasFile(f.pathIn(local), f.Bytes, f.SHA256, whole)
}

// hasAll reports whether a local store has all of some files.
func hasAll(local *store.Store, files []file, whole bool) bool {
	return !slices.ContainsFunc(files, func(f file) bool { return !f.isIn(local, whole) })
}

// eachFile calls do for all files, several at once, and stops at the first error. If ctx has ended,
// its cause is the error: those of do would look like faults of the remote store.
func eachFile(ctx context.Context, files []file, do func(context.Context, file) error) error {
	workers, limited := errgroup.WithContext(ctx)
	workers.SetLimit(parallel)
	for _, f := range files {
		workers.Go(func() error {
			if err := limited.Err(); err != nil {
				return err
			}
			return do(limited, f)
		})
	}
	if err := workers.Wait(); ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// rewriteAge is the age from which Push writes a present file again that the channel's snapshot
// does not use: a collection may be about to remove it.
const rewriteAge = time.Hour

// anyAge is no such age.
const anyAge time.Duration = math.MaxInt64

// putAll uploads files before the manifest that publish uploads. earlier are those of the snapshot
// that the channel shows, which no collection removes. With everything, files that the remote store
// has are uploaded too.
func (r *Remote) putAll(
	ctx context.Context, local *store.Store, folder string, files, earlier []file, everything bool,
	publish func() error,
) error {
	inUse, rewrite := map[string]bool{}, rewriteAge
	for _, f := range earlier {
		inUse[f.SHA256] = !everything
	}
	if everything {
		rewrite = 0
	}
	if err := r.putFiles(ctx, local, folder, files, inUse, rewrite); err != nil {
		return err
	}
	if err := publish(); err != nil {
		return err
	}
	// A collection that had not seen the manifest may have removed files meanwhile. Upload those
	// again.
	return r.putFiles(ctx, local, folder, files, nil, anyAge)
}

// putFiles uploads those of some files in a folder that are missing, or have another size, or are
// not in use and as old as rewrite says.
func (r *Remote) putFiles(
	ctx context.Context, local *store.Store, folder string, files []file, inUse map[string]bool, rewrite time.Duration,
) error {
	there, err := listed(ctx, r, folder)
	if err != nil {
		return err
	}
	return eachFile(ctx, files, func(ctx context.Context, f file) error {
		o, ok := there[f.name]
		if ok && o.Bytes == f.Bytes && (inUse[f.SHA256] || time.Since(o.Modified) < rewrite) {
			return nil
		}
		path := f.pathIn(local)
		if !f.isIn(local, true) { // a damaged file must not be uploaded
			return fmt.Errorf("%w: %s does not have the digest in its name; build again", snapshot.ErrCorrupt, path)
		}
		return objects.PutFile(ctx, r, f.name, path)
	})
}

// Fetched counts the files that were downloaded.
type Fetched struct {
	Files int   // with those that deltas made
	Bytes int64 // of the files that were downloaded as they are

	Deltas     int   // files that deltas made
	DeltaBytes int64 // of the deltas

	// Fallbacks are deltas that could not be used, so that the files were downloaded. Fault is what
	// was wrong with one of them.
	Fallbacks int
	Fault     error
}

// fetchFiles downloads the files that the local store lacks, by deltas if there are any. With
// whole, the digests of those that it has are checked too.
func (r *Replica) fetchFiles(
	ctx context.Context, files []file, whole bool, deltas map[string]store.Delta,
) (n Fetched, err error) {
	if len(deltas) > 0 {
		defer func() {
			r.making.Lock()
			defer r.making.Unlock()
			if r.applier = (snapshot.DeltaApplier{}); n.Deltas > 0 {
				runtime.GC() // a swap may follow, which collects no garbage until its end
			}
		}()
	}
	var mu sync.Mutex
	count := func(add func()) {
		mu.Lock()
		defer mu.Unlock()
		add()
	}
	err = eachFile(ctx, files, func(ctx context.Context, f file) error {
		if f.isIn(r.local, whole) {
			return nil
		}
		if d, ok := deltas[f.SHA256]; ok {
			size, err := r.addByDelta(ctx, d)
			switch {
			case err == nil:
				count(func() { n.Files, n.Deltas, n.DeltaBytes = n.Files+1, n.Deltas+1, n.DeltaBytes+size })
				return nil
			case ctx.Err() != nil:
				return err
			case !errors.Is(err, fs.ErrNotExist): // often there is none
				count(func() { n.Fallbacks, n.Fault = n.Fallbacks+1, r.remote.wrap(d.Name(), err) })
			}
		}
		q := objects.Request{Name: f.name, Size: f.Bytes, SHA256: f.SHA256}
		if _, err := r.remote.Download(ctx, q, f.pathIn(r.local)); err != nil {
			return missingIsCorrupt(err)
		}
		count(func() { n.Files, n.Bytes = n.Files+1, n.Bytes+f.Bytes })
		return nil
	})
	return n, err
}

// listed returns the objects of a folder by name.
func listed(ctx context.Context, from objects.Store, folder string) (map[string]objects.Object, error) {
	all, err := from.List(ctx, folder)
	byName := make(map[string]objects.Object, len(all))
	for _, o := range all {
		byName[o.Name] = o
	}
	return byName, err
}

// addByDelta downloads a delta and makes the segment from it. One is made at a time, which bounds
// memory, and leaves the other cores to requests.
func (r *Replica) addByDelta(ctx context.Context, d store.Delta) (size int64, err error) {
	delta, _, err := r.remote.at.Read(ctx, d.Name(), "", d.MaxBytes())
	if err != nil {
		return 0, r.remote.explain(err)
	}
	r.making.Lock()
	defer r.making.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	r.Beside(func() { err = r.local.Segments.AddByDelta(d, delta, &r.applier) })
	if err != nil {
		return 0, fmt.Errorf("table %s: %w", d.To.Table, err)
	}
	return int64(len(delta)), nil
}

// missingIsCorrupt turns fs.ErrNotExist into ErrCorrupt, for files that a channel or manifest
// refers to.
func missingIsCorrupt(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: missing, though the channel refers to it: %v", snapshot.ErrCorrupt, err)
	}
	return err
}
