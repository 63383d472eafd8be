package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// refreshAfter is the age from which a segment that is in place, but that nobody is known to use, is written again: a collection may be
// about to remove it.
const refreshAfter = time.Hour

// Push brings what a channel of a local store shows into the remote one: the segments it lacks, the manifest with signature and report, and
// last the channel, if that still is base. If someone else has moved it meanwhile, the error is ErrLost. With again, what the remote store has is
// not trusted and everything is put.
func (r *Remote) Push(ctx context.Context, local *store.Store, channel string, base Version, again bool) (Version, error) {
	p, err := local.Channel(channel)
	if err != nil {
		return base, err
	}
	if p.ID == base.ID && p.SHA256 == base.SHA256 && !again {
		return r.putSignatures(ctx, local, channel, base)
	}
	m, err := local.Manifest(p.ID)
	if err != nil {
		return base, err
	}
	inUse := map[string]bool{}
	if before, err := local.Manifest(base.ID); err == nil && !again {
		for _, ref := range before.Tables {
			inUse[ref.SHA256] = true
		}
	}
	old := refreshAfter
	if again {
		old = 0
	}
	if err := r.putSegments(ctx, local, m, func(o store.Object, ref store.SegmentRef) bool {
		return inUse[ref.SHA256] || time.Since(o.Modified) < old
	}); err != nil {
		return base, err
	}
	if err := r.putManifest(ctx, local, p); err != nil {
		return base, err
	}
	// Whatever a collection has removed meanwhile, because it had not seen the manifest yet, is put again.
	if err := r.putSegments(ctx, local, m, func(store.Object, store.SegmentRef) bool { return true }); err != nil {
		return base, err
	}
	return r.move(ctx, channel, base, base.Moved(p), local)
}

// putSegments puts those of a manifest that are not there in their size, or of which stays does not say that they can be relied upon.
func (r *Remote) putSegments(
	ctx context.Context, local *store.Store, m *store.Manifest, stays func(store.Object, store.SegmentRef) bool,
) error {
	entries, err := r.objects.list(ctx, "segments")
	if err != nil {
		return r.in("segments", err)
	}
	there := map[string]store.Object{}
	for _, e := range entries {
		there[e.Name] = e.Object
	}
	return eachSegment(ctx, m.Tables, func(ctx context.Context, ref store.SegmentRef) error {
		o, ok := there[store.SegmentName(ref.SHA256)]
		if ok && o.Bytes == ref.Bytes && stays(o, ref) {
			return nil
		}
		path, err := local.SegmentPath(ref.SHA256)
		if err != nil {
			return err
		}
		// A damaged segment must not leave this machine.
		if !local.HasSegment(ref, true) {
			return fmt.Errorf("table %q: %w: %s is not what its name says", ref.Table, snapshot.ErrCorrupt, path)
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := r.objects.put(ctx, store.SegmentName(ref.SHA256), file, ref.Bytes, condition{}); err != nil {
			return r.in(store.SegmentName(ref.SHA256), err)
		}
		return nil
	})
}

// eachSegment calls do for all segments, several at once, and ends at the first error. When ctx has ended, that is the
// error: what do makes of it would look like a fault of the remote store.
func eachSegment(ctx context.Context, refs []store.SegmentRef, do func(context.Context, store.SegmentRef) error) error {
	workers, limited := errgroup.WithContext(ctx)
	workers.SetLimit(parallel)
	for _, ref := range refs {
		workers.Go(func() error {
			if err := limited.Err(); err != nil {
				return err
			}
			return do(limited, ref)
		})
	}
	if err := workers.Wait(); ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// putManifest puts what stands beside a manifest first, so that whoever finds it finds them too.
func (r *Remote) putManifest(ctx context.Context, local *store.Store, p store.Pointer) error {
	manifest, _, err := local.ManifestFile(p.ID)
	if err != nil {
		return err
	}
	report, err := local.Report(p.ID)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	signature, err := local.Signature(p.ID)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, file := range []struct {
		name string
		data []byte
	}{
		{store.ReportName(p.ID), report}, {store.SignatureName(p.ID), signature}, {store.ManifestName(p.ID), manifest},
	} {
		if len(file.data) == 0 {
			continue
		}
		if err := r.objects.put(ctx, file.name, bytes.NewReader(file.data), int64(len(file.data)), condition{}); err != nil {
			return r.in(file.name, err)
		}
	}
	return nil
}

// putSignatures brings the signatures of a channel that is there already, and of what it shows.
func (r *Remote) putSignatures(ctx context.Context, local *store.Store, channel string, base Version) (Version, error) {
	if err := r.putSignature(ctx, local, base.ID); err != nil {
		return base, err
	}
	if signed := local.SignChannel(channel, base.Channel); signed.Signature != base.Signature {
		return r.move(ctx, channel, base, signed, local)
	}
	return base, nil
}

// putSignature brings the signature of a manifest that is there already: a snapshot may be signed after it was published.
func (r *Remote) putSignature(ctx context.Context, local *store.Store, id string) error {
	signature, err := local.Signature(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	name := store.SignatureName(id)
	there, _, err := r.objects.read(ctx, name, "", store.MaxSignature)
	if err == nil && bytes.Equal(there, signature) {
		return nil
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = r.objects.put(ctx, name, bytes.NewReader(signature), int64(len(signature)), condition{})
	}
	if err != nil {
		return r.in(name, err)
	}
	return nil
}

// move puts a channel in the place of base, if that is what is there still, and with the signature of the store's writer, if he signs.
func (r *Remote) move(ctx context.Context, channel string, base Version, next store.Channel, by *store.Store) (Version, error) {
	name, err := store.ChannelName(channel)
	if err != nil {
		return base, err
	}
	next = by.SignChannel(channel, next)
	data, err := next.Encode()
	if err != nil {
		return base, err
	}
	only := condition{etag: base.etag, absent: base.ID == ""}
	if base.ID != "" && base.etag == "" {
		return base, r.in(name, fmt.Errorf("%w: the service gives objects no ETag, so no write can depend on one", ErrAway))
	}
	err = r.objects.put(ctx, name, bytes.NewReader(data), int64(len(data)), only)
	if err != nil && !errors.Is(err, errCondition) {
		return base, r.in(name, err)
	}
	// A try whose answer got lost may have moved the channel before the next try of the same write was refused.
	now, readErr := r.Read(ctx, channel)
	switch {
	case readErr == nil && now.Pointer == next.Pointer:
		return now, nil
	case err == nil && readErr != nil:
		return base, readErr
	}
	return base, fmt.Errorf("%s/%s: %w: it shows %s now, this load began from %s", r.address, name, ErrLost, orNothing(now.ID), orNothing(base.ID))
}

func orNothing(id string) string {
	if id == "" {
		return "nothing"
	}
	return "snapshot " + id
}

// Publish lets a channel show a snapshot that the remote store has whole.
func (r *Remote) Publish(ctx context.Context, channel, id string, at time.Time, trust *store.Store) (Version, error) {
	base, err := r.Read(ctx, channel)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return base, err
	}
	if base.ID != "" {
		if err := trust.CheckChannel(channel, base.Channel); err != nil {
			return base, fmt.Errorf("%s: %w", r.address, err)
		}
	}
	p := store.Pointer{ID: id, PublishedAt: at.UTC()}
	m, err := r.manifest(ctx, &p, trust)
	if err != nil {
		return base, err
	}
	entries, err := r.objects.list(ctx, "segments")
	if err != nil {
		return base, r.in("segments", err)
	}
	there := map[string]int64{}
	for _, e := range entries {
		there[e.Name] = e.Bytes
	}
	for _, ref := range m.Tables {
		if n, ok := there[store.SegmentName(ref.SHA256)]; !ok || n != ref.Bytes {
			return base, r.corrupt("snapshot %s: segment %.12s of table %q is not there with %d bytes", id, ref.SHA256, ref.Table, ref.Bytes)
		}
	}
	return r.move(ctx, channel, base, base.Moved(p), trust)
}
