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
	"sync/atomic"

	"hdqs/internal/atomicfile"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// Replica is a local store that follows a channel of a remote one. One goroutine at a time uses it.
type Replica struct {
	remote  *Remote
	local   *store.Store
	channel string
}

// NewReplica makes a Replica. If the local store asks for signatures, so does the replica before it downloads a segment.
func NewReplica(remote *Remote, local *store.Store, channel string) *Replica {
	return &Replica{remote: remote, local: local, channel: channel}
}

// Fetched is a snapshot that is whole in the local store.
type Fetched struct {
	Version
	Changed  bool  // the channel shows another snapshot than the one last kept
	Segments int   // that were downloaded
	Bytes    int64 // of those
}

// Fetch looks what the remote channel shows and downloads what the local store lacks of it. The local channel stays as it is until Keep: only the
// caller knows whether the snapshot is of use. With whole, segments that are there already are held against their digests too. When the channel can
// be read, but not what it shows, the version is given beside the error.
func (r *Replica) Fetch(ctx context.Context, whole bool) (*Fetched, error) {
	last := r.remembered()
	kept, err := r.kept(last)
	etag := ""
	if err == nil && !whole && kept == last.Channel.Pointer && r.complete(kept) {
		etag = last.Version
	}
	v, err := r.remote.readChannel(ctx, r.channel, etag)
	if errors.Is(err, errSame) {
		return &Fetched{Version: Version{Channel: last.Channel, etag: etag}}, nil
	}
	if err != nil {
		return nil, err
	}
	if err := r.check(v, last); err != nil {
		return nil, err
	}
	f := &Fetched{Version: v, Changed: v.Pointer != kept}
	if err := r.fetchSnapshot(ctx, f, whole); err != nil {
		return f, fmt.Errorf("channel %s: snapshot %s: %w", r.channel, v.ID, err)
	}
	return f, nil
}

// check refuses a channel that is not signed as the local store asks for, or that was signed once and is put back now. What is remembered of it
// counts only if that is signed too: it may be from a time when nobody asked.
func (r *Replica) check(v Version, last memory) error {
	if err := r.local.CheckChannel(r.channel, v.Channel); err != nil {
		return fmt.Errorf("%s: %w", r.remote.address, err)
	}
	if r.local.CheckChannel(r.channel, last.Channel) != nil {
		return nil
	}
	if err := r.local.CheckStep(last.Channel.Pointer, v.Pointer); err != nil {
		return fmt.Errorf("%s: channel %s: %w", r.remote.address, r.channel, err)
	}
	return nil
}

// FetchID is Fetch for a snapshot by its id, whatever channel shows it. There is nothing to Keep.
func (r *Replica) FetchID(ctx context.Context, id string) (*Fetched, error) {
	f := &Fetched{}
	f.ID = id
	if _, err := r.remote.manifest(ctx, &f.Pointer, r.local); err != nil {
		return nil, err
	}
	if err := r.fetchSnapshot(ctx, f, false); err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", id, err)
	}
	return f, nil
}

// Manifest is the manifest of an id, or with an empty one of what the remote channel shows. Nothing is kept and no segment is asked for: what two
// snapshots have in common can be told from their manifests.
func (r *Replica) Manifest(ctx context.Context, id string) (*store.Manifest, error) {
	if id != "" {
		return r.remote.manifest(ctx, &store.Pointer{ID: id}, r.local)
	}
	v, err := r.remote.Read(ctx, r.channel)
	if err == nil {
		err = r.check(v, r.remembered())
	}
	if err != nil {
		return nil, err
	}
	if m, err := r.local.Published(v.Pointer); err == nil {
		return m, nil
	}
	data, signature, err := r.remote.manifestFile(ctx, v.ID)
	if err != nil {
		return nil, missingIsCorrupt(err)
	}
	m, err := r.local.CheckManifest(v.Pointer, data, signature)
	if err != nil {
		return nil, r.remote.in(store.ManifestName(v.ID), err)
	}
	return m, nil
}

// complete tells whether the local store has all of a snapshot, and trusts it.
func (r *Replica) complete(p store.Pointer) bool {
	m, err := r.local.Published(p)
	if err != nil {
		return false
	}
	for _, ref := range m.Tables {
		if !r.local.HasSegment(ref, false) {
			return false
		}
	}
	return true
}

func (r *Replica) fetchSnapshot(ctx context.Context, f *Fetched, whole bool) error {
	p := f.Pointer
	data, hash, err := r.local.ManifestFile(p.ID)
	signature, _ := r.local.Signature(p.ID) // looked for where the manifest comes from, if it is not here
	if err != nil || hash != p.SHA256 {
		if data, signature, err = r.remote.manifestFile(ctx, p.ID); err != nil {
			return missingIsCorrupt(err)
		}
	}
	m, err := r.local.CheckManifest(p, data, signature)
	if err != nil {
		return err
	}
	var segments, received atomic.Int64
	err = eachSegment(ctx, m.Tables, func(ctx context.Context, ref store.SegmentRef) error {
		if r.local.HasSegment(ref, whole) {
			return nil
		}
		name := store.SegmentName(ref.SHA256)
		err := r.local.AddSegment(ref, func(file *os.File) error { return r.remote.objects.download(ctx, name, ref, file) })
		if err != nil {
			return r.remote.in(name, missingIsCorrupt(err))
		}
		segments.Add(1)
		received.Add(ref.Bytes)
		return nil
	})
	f.Segments, f.Bytes = int(segments.Load()), received.Load()
	if err != nil {
		return err
	}
	if err := r.local.AddManifest(p, data, signature); err != nil {
		return err
	}
	// The report is for people; a snapshot without one is as good.
	if _, err := r.local.Report(p.ID); errors.Is(err, fs.ErrNotExist) {
		if report, _, err := r.remote.objects.read(ctx, store.ReportName(p.ID), "", store.MaxManifest); err == nil && json.Valid(report) {
			return r.local.PutReport(p.ID, report)
		}
	}
	return nil
}

// missingIsCorrupt: what a channel leads to must be there, so a file that is not is a fault of the store, not an absence.
func missingIsCorrupt(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: not there, though the channel leads to it: %v", snapshot.ErrCorrupt, err)
	}
	return err
}

// manifestFile reads a manifest and its signature, which need not be there.
func (r *Remote) manifestFile(ctx context.Context, id string) (data, signature []byte, err error) {
	name := store.ManifestName(id)
	if data, _, err = r.objects.read(ctx, name, "", store.MaxManifest); err != nil {
		return nil, nil, r.in(name, err)
	}
	name = store.SignatureName(id)
	signature, _, err = r.objects.read(ctx, name, "", store.MaxSignature)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, r.in(name, err)
	}
	return data, signature, nil
}

// manifest reads the manifest of an id and completes the pointer to it.
func (r *Remote) manifest(ctx context.Context, p *store.Pointer, trust *store.Store) (*store.Manifest, error) {
	data, signature, err := r.manifestFile(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	p.SHA256 = hex.EncodeToString(sum[:])
	m, err := trust.CheckManifest(*p, data, signature)
	if err != nil {
		return nil, r.in(store.ManifestName(p.ID), err)
	}
	return m, nil
}

// Keep makes what was fetched the snapshot that the local channel shows, and that Last gives from now on.
func (r *Replica) Keep(v Version) error {
	last := r.remembered()
	before, err := r.kept(last)
	if err == nil && before == v.Pointer && last.Channel.Pointer == v.Pointer && last.Version == v.etag {
		return nil
	}
	m := memory{Address: r.remote.address, Version: v.etag, Channel: v.Channel, Before: before}
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(r.memoryPath(), data); err != nil {
		return err
	}
	return r.local.AddChannel(r.channel, v.Channel)
}

// Last is the snapshot that was last kept. If none was, or if the local channel shows one from elsewhere, the error is fs.ErrNotExist.
func (r *Replica) Last() (store.Pointer, error) { return r.kept(r.remembered()) }

// memory is a file beside the local store's own: where its channel comes from. The channel is moved after it is written, so for a
// moment, or for good if the process ends then, the channel still shows Before.
type memory struct {
	Address string        `json:"address"`
	Version string        `json:"etag"`
	Channel store.Channel `json:"channel"`
	Before  store.Pointer `json:"before"`
}

func (r *Replica) memoryPath() string {
	return filepath.Join(r.local.Dir(), "replica", r.channel+".json")
}

// remembered reads the memory; one that cannot be read is none, which costs a request.
func (r *Replica) remembered() (m memory) {
	if _, err := store.ChannelName(r.channel); err != nil {
		return memory{}
	}
	data, err := os.ReadFile(r.memoryPath())
	if err != nil || json.NewDecoder(bytes.NewReader(data)).Decode(&m) != nil || m.Address != r.remote.address {
		return memory{}
	}
	return m
}

// kept is what the local channel shows, if that came from this remote channel.
func (r *Replica) kept(m memory) (store.Pointer, error) {
	p, err := r.local.Channel(r.channel)
	if err != nil {
		return store.Pointer{}, err
	}
	if m.Address == "" || p.SHA256 != m.Channel.SHA256 && p.SHA256 != m.Before.SHA256 {
		return store.Pointer{}, fmt.Errorf("%s: channel %s does not come from %s: %w", r.local.Dir(), r.channel, r.remote.address, fs.ErrNotExist)
	}
	return p, nil
}
