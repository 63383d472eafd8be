package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"hdqs/internal/objects"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// Push uploads the snapshot that a channel of a local store shows: the segments that the remote
// store lacks, then the manifest with signature and report, then the deltas, bulk files and
// figures, if there are any, then the channel. The channel is written only if it is still base;
// otherwise the error is ErrConflict. With everything, files that the remote store has are
// uploaded too, because they may be damaged.
func (r *Remote) Push(
	ctx context.Context, local *store.Store, channel string, base Version, everything bool,
) (Version, error) {
	p, err := local.Channels.Channel(channel)
	if err != nil {
		return base, err
	}
	if p.ID == base.ID && p.SHA256 == base.SHA256 && !everything {
		if err := r.putBulk(ctx, local, p.ID, p.ID, false); err != nil {
			return base, err
		}
		return r.putSignatures(ctx, local, channel, base)
	}
	m, err := local.Snapshots.Manifest(p.ID)
	if err != nil {
		return base, err
	}
	var earlier []file
	if before, err := local.Snapshots.Manifest(base.ID); err == nil {
		earlier = segmentsOf(before)
	}
	publish := func() error { return r.putManifest(ctx, local, p) }
	if err := r.putAll(ctx, local, "segments", segmentsOf(m), earlier, everything, publish); err != nil {
		return base, err
	}
	if err := r.putDeltas(ctx, local, m); err != nil {
		return base, err
	}
	if err := r.putBulk(ctx, local, p.ID, base.ID, everything); err != nil {
		return base, err
	}
	if err := r.putFigures(ctx, local, p); err != nil {
		return base, err
	}
	return r.moveChannel(ctx, channel, base, base.Moved(p), local)
}

// putFigures uploads the figures of a publication, if it has some.
func (r *Remote) putFigures(ctx context.Context, local *store.Store, p store.Pointer) error {
	if p.Figures == "" {
		return nil
	}
	data, err := local.Snapshots.Figures(p)
	if err != nil {
		return err
	}
	return objects.PutBytes(ctx, r, store.FiguresName(p.Figures), data)
}

// putManifest uploads a manifest after its report and signature, so that a reader who finds the
// manifest finds them too.
func (r *Remote) putManifest(ctx context.Context, local *store.Store, p store.Pointer) error {
	manifest, _, err := local.Snapshots.ManifestFile(p.ID)
	if err != nil {
		return err
	}
	report, err := local.Snapshots.Report(p.ID)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	signature, err := local.Snapshots.Signature(p.ID)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, file := range []struct {
		name string
		data []byte
	}{
		{store.ReportName(p.ID), report}, {store.SignatureName(p.ID), signature}, {store.ManifestName(p.ID), manifest},
	} {
		if err := objects.PutBytes(ctx, r, file.name, file.data); err != nil {
			return err
		}
	}
	return nil
}

// putSignatures uploads the signatures of a channel that is up to date, and of the manifest it
// shows.
func (r *Remote) putSignatures(ctx context.Context, local *store.Store, channel string, base Version) (Version, error) {
	if err := r.putSignature(ctx, local, base.ID); err != nil {
		return base, err
	}
	if signed := local.Keys.SignChannel(channel, base.Channel); signed.Signature != base.Signature {
		return r.moveChannel(ctx, channel, base, signed, local)
	}
	return base, nil
}

// putSignature uploads the signature of a manifest that is present: a snapshot may be signed after
// it was published.
func (r *Remote) putSignature(ctx context.Context, local *store.Store, id string) error {
	signature, err := local.Snapshots.Signature(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	name := store.SignatureName(id)
	there, _, err := r.Read(ctx, name, "", store.MaxSignature)
	if err == nil && bytes.Equal(there, signature) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return objects.PutBytes(ctx, r, name, signature)
}

// moveChannel replaces base by next if the remote channel is still base. It signs next if the store
// by has a key.
func (r *Remote) moveChannel(
	ctx context.Context, channel string, base Version, next store.Channel, by *store.Store,
) (Version, error) {
	name, err := store.ChannelName(channel)
	if err != nil {
		return base, err
	}
	if err := by.Keys.CheckMove(channel, base.Signature != ""); err != nil {
		return base, fmt.Errorf("%s: %w", r.address, err)
	}
	next = by.Keys.SignChannel(channel, next)
	data, err := next.Encode()
	if err != nil {
		return base, err
	}
	only := objects.Condition{ETag: base.etag, Absent: base.ID == ""}
	if base.ID != "" && base.etag == "" {
		return base, r.wrap(name, fmt.Errorf("%w: the service sends no ETags, which writes of a channel need",
			ErrUnavailable))
	}
	err = r.limit(ctx, "moving channel "+channel, func(ctx context.Context) error {
		return r.Put(ctx, name, bytes.NewReader(data), int64(len(data)), only)
	})
	if err != nil && !errors.Is(err, objects.ErrCondition) {
		return base, err
	}
	// A first try whose response was lost may have moved the channel, and the next try of the same
	// write was then refused.
	now, readErr := r.Channel(ctx, channel)
	switch {
	case readErr == nil && now.Pointer == next.Pointer:
		return now, nil
	case err == nil && readErr != nil:
		return base, readErr
	}
	return base, fmt.Errorf("%s/%s: %w: it shows %s now, this load began from %s; run the load again",
		r.address, name, ErrConflict, orNothing(now.ID), orNothing(base.ID))
}

func orNothing(id string) string {
	if id == "" {
		return "nothing"
	}
	return "snapshot " + id
}

// Move moves a channel that is still base to a snapshot whose files the remote store has; otherwise
// the error is ErrConflict. With a key it signs a manifest that has no signature, as that of a
// snapshot from before the store was signed.
func (r *Remote) Move(
	ctx context.Context, channel string, base Version, id string, next store.Next, trust *store.Store,
) (Version, error) {
	if base.ID != "" {
		if err := trust.Keys.CheckChannel(channel, base.Channel); err != nil {
			return base, fmt.Errorf("%s: %w", r.address, err)
		}
	}
	if err := trust.Keys.CheckMove(channel, base.Signature != ""); err != nil {
		return base, fmt.Errorf("%s: %w", r.address, err)
	}
	p := store.Pointer{ID: id}
	m, err := r.manifest(ctx, &p, trust)
	if err != nil {
		return base, err
	}
	there, err := listed(ctx, r, "segments")
	if err != nil {
		return base, err
	}
	for _, ref := range m.Tables {
		if o, ok := there[store.SegmentName(ref.SHA256)]; !ok || o.Bytes != ref.Bytes {
			return base, fmt.Errorf("%s: %w: snapshot %s: segment %.12s of table %q is missing or does not have "+
				"%d bytes", r.address, snapshot.ErrCorrupt, id, ref.SHA256, ref.Table, ref.Bytes)
		}
	}
	if err := r.signManifest(ctx, channel, base.Channel, p, trust); err != nil {
		return base, err
	}
	return r.moveChannel(ctx, channel, base, next(base.Channel, p), trust)
}

// signManifest signs a manifest that has no signature, if the local store has a key.
func (r *Remote) signManifest(
	ctx context.Context, channel string, before store.Channel, p store.Pointer, by *store.Store,
) error {
	data, old, err := r.manifestFile(ctx, p.ID)
	if err != nil {
		return err
	}
	signature, err := by.Keys.SignatureFor(channel, before, p, data, old)
	if err != nil || signature == nil {
		return err
	}
	return objects.PutBytes(ctx, r, store.SignatureName(p.ID), signature)
}
