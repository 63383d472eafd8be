package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"hdqs/bulk"
	"hdqs/internal/atomicfile"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// icebergDir has the Iceberg tables of bulk files, and icebergHint is the name of the file in each
// that says which version is the current one.
const (
	icebergDir  = "bulk/iceberg"
	icebergHint = "version-hint.text"
)

// refOf describes a bulk file as transfers need it.
func refOf(f *bulk.File) store.SegmentRef {
	return store.SegmentRef{Table: f.Path, SHA256: f.SHA256, Bytes: f.Bytes}
}

// putBulk uploads the bulk files of a snapshot that the remote store lacks, then their manifest. It
// does nothing if the local store has none.
func (r *Remote) putBulk(ctx context.Context, local *store.Store, id, before string, everything bool) error {
	b := bulk.Open(local)
	m, err := b.Manifest(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	data, signature, err := b.ManifestFile(id)
	if err != nil {
		return err
	}
	inUse := map[string]bool{}
	if earlier, err := b.Manifest(before); err == nil && !everything {
		for f := range earlier.All {
			inUse[f.SHA256] = true
		}
	}
	// As Push does with segments: a collection may be about to remove old files that no shown
	// snapshot uses.
	if err := r.putBulkFiles(ctx, b, m, func(o store.Object, f *bulk.File) bool {
		return inUse[f.SHA256] || !everything && time.Since(o.Modified) < rewriteAge
	}); err != nil {
		return err
	}
	if len(signature) > 0 {
		if err := r.putBytes(ctx, bulk.SignatureName(id), signature); err != nil {
			return err
		}
	}
	if err := r.putBytes(ctx, bulk.ManifestName(id), data); err != nil {
		return err
	}
	return r.putBulkFiles(ctx, b, m, func(store.Object, *bulk.File) bool { return true })
}

func (r *Remote) putBytes(ctx context.Context, name string, data []byte) error {
	if err := r.objects.put(ctx, name, bytes.NewReader(data), int64(len(data)), condition{}); err != nil {
		return r.wrap(name, err)
	}
	return nil
}

// putBulkFiles uploads the files of a manifest that are missing, that have another size, or for
// which usable returns false.
func (r *Remote) putBulkFiles(
	ctx context.Context, b *bulk.Bulk, m *bulk.Manifest, usable func(store.Object, *bulk.File) bool,
) error {
	listed, err := r.listed(ctx, "bulk/data")
	if err != nil {
		return err
	}
	var refs []store.SegmentRef
	files := map[string]*bulk.File{}
	for f := range m.All {
		if o, ok := listed[f.Name()]; !ok || o.Bytes != f.Bytes || !usable(o, f) {
			refs, files[f.Path] = append(refs, refOf(f)), f
		}
	}
	return eachSegment(ctx, refs, func(ctx context.Context, ref store.SegmentRef) error {
		f := files[ref.Table]
		if !b.Has(f, true) {
			return fmt.Errorf("%w: %s does not have the digest in its name; build again", snapshot.ErrCorrupt,
				b.Path(f))
		}
		return r.putFile(ctx, f.Name(), b.Path(f))
	})
}

func (r *Remote) listed(ctx context.Context, folder string) (map[string]store.Object, error) {
	entries, err := r.objects.list(ctx, folder)
	if err != nil {
		return nil, r.wrap(folder, err)
	}
	listed := map[string]store.Object{}
	for _, e := range entries {
		listed[e.Name] = e.Object
	}
	return listed, nil
}

// putFile uploads a file.
func (r *Remote) putFile(ctx context.Context, name, file string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if err := r.objects.put(ctx, name, in, info.Size(), condition{}); err != nil {
		return r.wrap(name, err)
	}
	return nil
}

// PushIceberg uploads the files of Iceberg tables that the remote store lacks, the hints last:
// those publish. Then it removes those that the local store does not have any more. The local store
// must have begun with the tables of the remote one (FetchIceberg). If someone else has written the
// next version of a table meanwhile the error is ErrConflict.
func (r *Remote) PushIceberg(ctx context.Context, local *store.Store) error {
	names, hints, err := icebergFiles(local)
	if err != nil {
		return err
	}
	listed, err := r.listed(ctx, icebergDir)
	if err != nil {
		return err
	}
	for _, name := range names {
		file := filepath.Join(local.Dir(), filepath.FromSlash(name))
		if _, ok := listed[name]; ok {
			continue // a name depends on the content, or FetchIceberg has read the file
		}
		if err := r.putIceberg(ctx, name, file); err != nil {
			return err
		}
	}
	for _, name := range hints {
		if err := r.putFile(ctx, name, filepath.Join(local.Dir(), filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	for name, o := range listed {
		here := slices.Contains(names, name) || slices.Contains(hints, name)
		if !here && time.Since(o.Modified) > rewriteAge {
			if err := r.objects.remove(ctx, name); err != nil {
				return r.wrap(name, err)
			}
		}
	}
	return nil
}

// icebergFiles returns the names of the files of a store's Iceberg tables.
func icebergFiles(local *store.Store) (names, hints []string, err error) {
	root := filepath.Join(local.Dir(), filepath.FromSlash(icebergDir))
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		rel, err := filepath.Rel(local.Dir(), file)
		if name := filepath.ToSlash(rel); d.Name() == icebergHint {
			hints = append(hints, name)
		} else {
			names = append(names, name)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return names, hints, err
}

// putIceberg uploads a file of an Iceberg table that the remote store did not have.
func (r *Remote) putIceberg(ctx context.Context, name, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	err = r.objects.put(ctx, name, bytes.NewReader(data), int64(len(data)), condition{absent: true})
	if errors.Is(err, errPrecondition) {
		// The first try of this write may have succeeded without an answer.
		there, _, readErr := r.objects.read(ctx, name, "", int64(len(data)))
		if readErr == nil && bytes.Equal(there, data) {
			return nil
		}
		err = fmt.Errorf("%w: another load or gc has written it meanwhile; run this one again", ErrConflict)
	}
	if err != nil {
		return r.wrap(name, err)
	}
	return nil
}

// BulkFetched is what FetchBulk has downloaded.
type BulkFetched struct {
	Files int
	Bytes int64
}

// FetchBulk downloads the bulk files of a snapshot that the local store lacks, then their manifest.
// With whole, the digests of files that it has are checked too. If the remote store has none of
// that snapshot the error is fs.ErrNotExist.
func (r *Replica) FetchBulk(ctx context.Context, id string, whole bool) (*BulkFetched, error) {
	b := bulk.Open(r.local)
	if m, err := b.Manifest(id); err == nil && hasAll(b, m, whole) {
		return &BulkFetched{}, nil
	}
	var data, signature []byte
	err := r.limit(ctx, func(ctx context.Context) (err error) {
		data, signature, err = r.remote.bulkManifest(ctx, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	m, err := b.CheckManifest(id, data, signature)
	if err != nil {
		return nil, r.remote.wrap(bulk.ManifestName(id), err)
	}
	var refs []store.SegmentRef
	files := map[string]*bulk.File{}
	for f := range m.All {
		if !b.Has(f, whole) {
			refs, files[f.Path] = append(refs, refOf(f)), f
		}
	}
	var n, received atomic.Int64
	err = eachSegment(ctx, refs, func(ctx context.Context, ref store.SegmentRef) error {
		f := files[ref.Table]
		err := b.AddFile(f, func(file *os.File) error { return r.remote.objects.download(ctx, f.Name(), ref, file) })
		if err != nil {
			return r.remote.wrap(f.Name(), missingIsCorrupt(err))
		}
		n.Add(1)
		received.Add(f.Bytes)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &BulkFetched{int(n.Load()), received.Load()}, b.AddManifest(id, data, signature)
}

func hasAll(b *bulk.Bulk, m *bulk.Manifest, whole bool) bool {
	for f := range m.All {
		if !b.Has(f, whole) {
			return false
		}
	}
	return true
}

func (r *Remote) bulkManifest(ctx context.Context, id string) (data, signature []byte, err error) {
	if err := store.CheckID(id); err != nil {
		return nil, nil, err
	}
	return r.signed(ctx, bulk.ManifestName(id), bulk.SignatureName(id), bulk.MaxManifest)
}

// FetchIceberg downloads the files of Iceberg tables that the local store lacks, so that a writer
// adds to them. The remote store must be one that can be listed.
func (r *Replica) FetchIceberg(ctx context.Context) error {
	listed, err := r.remote.listed(ctx, icebergDir)
	if err != nil {
		return err
	}
	var refs []store.SegmentRef
	for name, o := range listed {
		file := filepath.Join(r.local.Dir(), filepath.FromSlash(name))
		info, err := os.Stat(file)
		same := err == nil && info.Size() == o.Bytes && strings.HasSuffix(name, ".avro") // named by content
		if same || !filepath.IsLocal(filepath.FromSlash(name)) {
			continue
		}
		refs = append(refs, store.SegmentRef{Table: name, Bytes: o.Bytes})
	}
	return eachSegment(ctx, refs, func(ctx context.Context, ref store.SegmentRef) error {
		data, _, err := r.remote.objects.read(ctx, ref.Table, "", bulk.MaxManifest)
		if err != nil {
			return r.remote.wrap(ref.Table, err)
		}
		return atomicfile.Write(filepath.Join(r.local.Dir(), filepath.FromSlash(ref.Table)), data)
	})
}
