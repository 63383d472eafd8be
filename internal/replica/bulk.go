package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hdqs/bulk"
	"hdqs/internal/atomicfile"
	"hdqs/internal/objects"
	"hdqs/snapshot/store"
)

// icebergDir has the Iceberg tables of bulk files, and icebergHint is the name of the file in each
// that says which version is the current one.
const (
	icebergDir  = "bulk/iceberg"
	icebergHint = "version-hint.text"
)

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
	var earlier []file
	if m, err := b.Manifest(before); err == nil {
		earlier = bulkFilesOf(m)
	}
	return r.putAll(ctx, local, "bulk/data", bulkFilesOf(m), earlier, everything, func() error {
		if err := objects.PutBytes(ctx, r, bulk.SignatureName(id), signature); err != nil {
			return err
		}
		return objects.PutBytes(ctx, r, bulk.ManifestName(id), data)
	})
}

// PushIceberg uploads the files of Iceberg tables that the remote store lacks, the hints last:
// those publish. Then it removes those that the local store does not have any more. The local store
// must have begun with the tables of the remote one (FetchIceberg). If someone else has written the
// next version of a table meanwhile the error is ErrConflict.
func (r *Remote) PushIceberg(ctx context.Context, local *store.Store) error {
	names, hints, err := icebergFiles(ctx, local)
	if err != nil {
		return err
	}
	there, err := listed(ctx, r, icebergDir)
	if err != nil {
		return err
	}
	for _, name := range names {
		file := local.Snapshots.Path(name)
		if _, ok := there[name]; ok {
			continue // a name depends on the content, or FetchIceberg has read the file
		}
		if err := r.putIceberg(ctx, name, file); err != nil {
			return err
		}
	}
	for _, name := range hints {
		if err := objects.PutFile(ctx, r, name, local.Snapshots.Path(name)); err != nil {
			return err
		}
	}
	for name, o := range there {
		here := slices.Contains(names, name) || slices.Contains(hints, name)
		if !here && time.Since(o.Modified) > rewriteAge {
			if _, err := r.Remove(ctx, o); err != nil {
				return err
			}
		}
	}
	return nil
}

func icebergFiles(ctx context.Context, local *store.Store) (names, hints []string, err error) {
	all, err := local.Files().List(ctx, icebergDir)
	for _, o := range all {
		switch base := path.Base(o.Name); {
		case strings.HasPrefix(base, "."): // it is being written
		case base == icebergHint:
			hints = append(hints, o.Name)
		default:
			names = append(names, o.Name)
		}
	}
	return names, hints, err
}

// putIceberg uploads a file of an Iceberg table that the remote store did not have.
func (r *Remote) putIceberg(ctx context.Context, name, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	err = r.Put(ctx, name, bytes.NewReader(data), int64(len(data)), objects.Condition{Absent: true})
	if errors.Is(err, objects.ErrCondition) {
		// The first try of this write may have succeeded without an answer.
		there, _, readErr := r.at.Read(ctx, name, "", int64(len(data)))
		if readErr == nil && bytes.Equal(there, data) {
			return nil
		}
		err = fmt.Errorf("%w: another load or gc has written it meanwhile; run this one again", ErrConflict)
		return r.wrap(name, err)
	}
	return err
}

// FetchBulk downloads the bulk files of a snapshot that the local store lacks, then their manifest.
// With whole, the digests of files that it has are checked too. If the remote store has none of
// that snapshot the error is fs.ErrNotExist.
func (r *Replica) FetchBulk(ctx context.Context, id string, whole bool) (fetched Fetched, err error) {
	b := bulk.Open(r.local)
	if m, err := b.Manifest(id); err == nil && hasAll(r.local, bulkFilesOf(m), whole) {
		return fetched, nil
	}
	if err := store.CheckID(id); err != nil {
		return fetched, err
	}
	data, signature, err := r.remote.signed(ctx, bulk.ManifestName(id), bulk.SignatureName(id), bulk.MaxManifest)
	if err != nil {
		return fetched, err
	}
	m, err := b.CheckManifest(id, data, signature)
	if err != nil {
		return fetched, r.remote.wrap(bulk.ManifestName(id), err)
	}
	if fetched, err = r.fetchFiles(ctx, bulkFilesOf(m), whole, nil); err != nil {
		return fetched, err
	}
	return fetched, b.AddManifest(id, data, signature)
}

// FetchIceberg downloads the files of Iceberg tables that the local store lacks, so that a writer
// adds to them. The remote store must be one that can be listed.
func (r *Replica) FetchIceberg(ctx context.Context) error {
	there, err := listed(ctx, r.remote, icebergDir)
	if err != nil {
		return err
	}
	var lacking []file
	for name, o := range there {
		f := file{store.SegmentRef{Table: name, Bytes: o.Bytes}, name}
		same := f.isIn(r.local, false) && strings.HasSuffix(name, ".avro") // named by content
		if !same && filepath.IsLocal(filepath.FromSlash(name)) {
			lacking = append(lacking, f)
		}
	}
	return eachFile(ctx, lacking, func(ctx context.Context, f file) error {
		data, _, err := r.remote.Read(ctx, f.name, "", bulk.MaxManifest)
		if err != nil {
			return err
		}
		return atomicfile.Write(f.pathIn(r.local), data)
	})
}
