package replica

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hdqs/internal/atomicfile"
	"hdqs/internal/objects"
	"hdqs/snapshot/store"
)

// FetchResult is a snapshot that is complete in the local store.
type FetchResult struct {
	Version
	Fetched      // segments
	Changed bool // the channel shows another snapshot than the one last kept
}

// Fetch is Read and FetchVersion. If the channel could be read but not its snapshot, the result has
// the version beside the error.
func (r *Replica) Fetch(ctx context.Context) (*FetchResult, error) {
	v, err := r.Read(ctx)
	if err != nil {
		return nil, err
	}
	return r.FetchVersion(ctx, v, false)
}

// Read reads the remote channel.
func (r *Replica) Read(ctx context.Context) (v Version, err error) {
	last := r.readOrigin()
	kept, err := r.kept(last)
	etag := ""
	if err == nil && kept == last.Channel.Pointer && r.complete(kept) {
		etag = last.Version
	}
	v, err = r.remote.readChannel(ctx, r.channel, etag)
	if errors.Is(err, objects.ErrNotModified) {
		return Version{Channel: last.Channel, etag: etag, complete: true}, nil
	}
	if err == nil {
		err = r.check(v, last)
	}
	return v, err
}

// FetchVersion downloads the files of a channel's snapshot that the local store lacks. It does not
// move the local channel; the caller does with Keep, once it can use the snapshot.
// With whole, the digests of segments that the local store has are checked too.
func (r *Replica) FetchVersion(ctx context.Context, v Version, whole bool) (*FetchResult, error) {
	f := &FetchResult{Version: v}
	if v.complete && !whole {
		return f, nil
	}
	kept, _ := r.Last() // the zero Pointer if nothing was kept
	f.Changed = v.Pointer != kept
	if err := r.fetchSnapshot(ctx, f, whole); err != nil {
		return f, fmt.Errorf("channel %s: snapshot %s: %w", r.channel, v.ID, err)
	}
	return f, nil
}

// check refuses a channel without the signature that the local store requires, and a signed channel
// that is older than the last one.
func (r *Replica) check(v Version, last origin) error {
	if err := r.local.Keys.CheckChannel(r.channel, v.Channel); err != nil {
		return fmt.Errorf("%s: %w", r.remote.address, err)
	}
	if err := r.local.Keys.CheckStep(r.channel, last.Channel, v.Channel); err != nil {
		return fmt.Errorf("%s: %w", r.remote.address, err)
	}
	return nil
}

// FetchID is Fetch for a snapshot by its id, whatever channel shows it. It is not kept.
func (r *Replica) FetchID(ctx context.Context, id string) (*FetchResult, error) {
	f := &FetchResult{}
	f.ID = id
	if _, err := r.remote.manifest(ctx, &f.Pointer, r.local); err != nil {
		return nil, err
	}
	if err := r.fetchSnapshot(ctx, f, false); err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", id, err)
	}
	return f, nil
}

// Manifest returns the manifest of an id, or, if that is empty, of the snapshot that the remote
// channel shows. It downloads no segment and changes nothing: manifests suffice to compare
// snapshots.
func (r *Replica) Manifest(ctx context.Context, id string) (*store.Manifest, error) {
	if id != "" {
		return r.remote.manifest(ctx, &store.Pointer{ID: id}, r.local)
	}
	v, err := r.Read(ctx)
	if err != nil {
		return nil, err
	}
	if m, err := r.local.Snapshots.Published(v.Pointer); err == nil {
		return m, nil
	}
	data, signature, err := r.remote.manifestFile(ctx, v.ID)
	if err != nil {
		return nil, missingIsCorrupt(err)
	}
	m, err := r.local.Snapshots.CheckManifest(v.Pointer, data, signature)
	if err != nil {
		return nil, r.remote.wrap(store.ManifestName(v.ID), err)
	}
	return m, nil
}

// complete reports whether the local store has all files of a snapshot and trusts its signature.
func (r *Replica) complete(p store.Pointer) bool {
	m, err := r.local.Snapshots.Published(p)
	return err == nil && hasAll(r.local, segmentsOf(m), false)
}

func (r *Replica) fetchSnapshot(ctx context.Context, f *FetchResult, whole bool) error {
	p := f.Pointer
	data, hash, err := r.local.Snapshots.ManifestFile(p.ID)
	signature, _ := r.local.Snapshots.Signature(p.ID) // nil if the local store has none
	if err != nil || hash != p.SHA256 {
		if data, signature, err = r.remote.manifestFile(ctx, p.ID); err != nil {
			return &store.ManifestError{Err: missingIsCorrupt(err)}
		}
	}
	m, err := r.local.Snapshots.CheckManifest(p, data, signature)
	if err != nil {
		return &store.ManifestError{Err: err}
	}
	var deltas map[string]store.Delta
	if !whole { // otherwise something is damaged
		deltas = r.deltas(m)
	}
	if f.Fetched, err = r.fetchFiles(ctx, segmentsOf(m), whole, deltas); err != nil {
		return err
	}
	if err := r.local.Snapshots.AddManifest(p, data, signature); err != nil {
		return err
	}
	if err := r.fetchFigures(ctx, p); err != nil {
		return err
	}
	return r.fetchReport(ctx, p.ID)
}

// fetchFigures downloads the figures of a publication if the local store lacks them. A publication
// whose figures are missing or damaged works: they are computed.
func (r *Replica) fetchFigures(ctx context.Context, p store.Pointer) error {
	if _, err := r.local.Snapshots.Figures(p); err == nil || p.Figures == "" {
		return nil
	}
	data, _, err := r.remote.Read(ctx, store.FiguresName(p.Figures), "", store.MaxFigures)
	if errors.Is(err, ErrUnavailable) || ctx.Err() != nil {
		return err
	}
	if err == nil && store.CheckFigures(p.Figures, data) == nil {
		_, err = r.local.Snapshots.PutFigures(data)
		return err
	}
	return nil
}

// fetchReport downloads a report if the local store lacks it. The report is informative, and a
// snapshot without one works.
func (r *Replica) fetchReport(ctx context.Context, id string) error {
	if _, err := r.local.Snapshots.Report(id); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	report, _, err := r.remote.Read(ctx, store.ReportName(id), "", store.MaxManifest)
	if err == nil && json.Valid(report) {
		return r.local.Snapshots.PutReport(id, report)
	}
	return nil
}

// manifestFile reads a manifest and its signature. The signature is nil if there is none.
func (r *Remote) manifestFile(ctx context.Context, id string) (data, signature []byte, err error) {
	return r.signed(ctx, store.ManifestName(id), store.SignatureName(id), store.MaxManifest)
}

// signed reads a file of at most limit bytes and its signature. The signature is nil if there is
// none.
func (r *Remote) signed(
	ctx context.Context, name, signatureName string, limit int64,
) (data, signature []byte, err error) {
	if data, _, err = r.Read(ctx, name, "", limit); err != nil {
		return nil, nil, err
	}
	if signature, _, err = r.Read(ctx, signatureName, "", store.MaxSignature); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return data, signature, err
}

// manifest reads the manifest with the id of p and sets the digest of p.
func (r *Remote) manifest(ctx context.Context, p *store.Pointer, trust *store.Store) (*store.Manifest, error) {
	data, signature, err := r.manifestFile(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	p.SHA256 = hex.EncodeToString(sum[:])
	m, err := trust.Snapshots.CheckManifest(*p, data, signature)
	if err != nil {
		return nil, r.wrap(store.ManifestName(p.ID), err)
	}
	return m, nil
}

// Keep moves the local channel to a fetched snapshot. Last returns it from now on.
func (r *Replica) Keep(v Version) error {
	last := r.readOrigin()
	before, err := r.kept(last)
	if err == nil && before == v.Pointer && last.Channel.Pointer == v.Pointer && last.Version == v.etag {
		return nil
	}
	o := origin{Address: r.remote.address, Version: v.etag, Channel: v.Channel, Before: before}
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(r.originPath(), data); err != nil {
		return err
	}
	return r.local.Channels.AddChannel(r.channel, v.Channel)
}

// Last returns the snapshot that was last kept. If there is none, or if the local channel shows a
// snapshot from elsewhere, the error is fs.ErrNotExist.
func (r *Replica) Last() (store.Pointer, error) { return r.kept(r.readOrigin()) }

// origin records where the channel of a local store comes from. It is written before the channel is
// moved. If the process ends in between, the channel still shows Before.
type origin struct {
	Address string        `json:"address"`
	Version string        `json:"etag"`
	Channel store.Channel `json:"channel"`
	Before  store.Pointer `json:"before"`
}

func (r *Replica) originPath() string {
	return filepath.Join(r.local.Dir(), "replica", r.channel+".json")
}

// readOrigin returns the zero origin if the file is missing or damaged, or about another address.
// That costs a request.
func (r *Replica) readOrigin() (o origin) {
	if _, err := store.ChannelName(r.channel); err != nil {
		return origin{}
	}
	data, err := os.ReadFile(r.originPath())
	if err != nil || json.NewDecoder(bytes.NewReader(data)).Decode(&o) != nil || o.Address != r.remote.address {
		return origin{}
	}
	return o
}

// kept returns what the local channel shows if that came from this remote channel.
func (r *Replica) kept(o origin) (store.Pointer, error) {
	p, err := r.local.Channels.Channel(r.channel)
	if err != nil {
		return store.Pointer{}, err
	}
	if o.Address == "" || p.SHA256 != o.Channel.SHA256 && p.SHA256 != o.Before.SHA256 {
		return store.Pointer{}, fmt.Errorf("%s: channel %s does not come from %s: %w",
			r.local.Dir(), r.channel, r.remote.address, fs.ErrNotExist)
	}
	return p, nil
}
