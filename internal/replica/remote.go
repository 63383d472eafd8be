package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"hdqs/internal/bucket"
	"hdqs/internal/fetch"
	"hdqs/internal/objects"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// The errors of this package. Besides them, damaged files are snapshot.ErrCorrupt, files without a
// valid signature store.ErrSignature, and missing files fs.ErrNotExist.
var (
	// ErrUnavailable marks a remote store that could not be reached or returned an error.
	ErrUnavailable = errors.New("replica: remote store is unavailable")
	// ErrConflict marks a channel that another writer has moved first.
	ErrConflict = errors.New("replica: channel was moved by someone else")
)

// Remote is a remote store. Its files are an objects.Store, whose errors name the address; those of
// the way there are ErrUnavailable. Goroutines may share it.
type Remote struct {
	address string
	at      objects.Store

	// Timeout is the longest time for reading a small file, for listing a folder, and for moving a
	// channel. Open sets DefaultTimeout. Segments have no such limit: a transfer fails when it
	// stalls.
	Timeout time.Duration
	// Waiting is called when one of these takes longer than a second; may be nil.
	Waiting func(what string)
}

// DefaultTimeout is long enough for two lost connections and short enough to wait for.
const DefaultTimeout = 10 * time.Second

// Open returns the store at s3://bucket/prefix, or the read-only store below an https:// address.
// It sends no request. The options apply to web addresses; Tries defaults to 3.
func Open(address string, o fetch.Options) (*Remote, error) {
	r := &Remote{address: strings.TrimRight(address, "/"), Timeout: DefaultTimeout}
	var err error
	switch {
	case strings.HasPrefix(address, "s3://"):
		r.at, err = bucket.Open(address, fetch.Options{
			Tries: 4, BackoffMin: 100 * time.Millisecond, Parallel: parallel, MaxBytes: math.MaxInt64,
		})
	case objects.IsRemote(address):
		o.Tries, o.Parallel = cmp.Or(o.Tries, 3), cmp.Or(o.Parallel, parallel)
		o.BackoffMax = cmp.Or(o.BackoffMax, 5*time.Second)
		r.at = fetch.New(o).Below(r.address)
	default:
		err = fmt.Errorf("store address %q: want s3://bucket/prefix or https://host/path", address)
	}
	return r, err
}

// limit runs f, which reads and writes small files, for at most the Timeout.
func (r *Remote) limit(ctx context.Context, what string, f func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	if r.Waiting != nil {
		defer time.AfterFunc(time.Second, func() { r.Waiting(what) }).Stop()
	}
	err := f(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%s was not done within %s (--store-timeout): %w", what, r.Timeout, err)
	}
	return err
}

// parallel is how many segments are transferred at once.
const parallel = 4

// Address returns the address without trailing slashes.
func (r *Remote) Address() string { return r.address }

// Traffic implements objects.Store.
func (r *Remote) Traffic() objects.Traffic { return r.at.Traffic() }

// Read implements objects.Store. It is for small files.
func (r *Remote) Read(ctx context.Context, name, etag string, limit int64) (data []byte, version string, err error) {
	err = r.limit(ctx, "reading "+name, func(ctx context.Context) error {
		data, version, err = r.at.Read(ctx, name, etag, limit)
		return r.explain(err)
	})
	return data, version, r.wrap(name, err)
}

// Download implements objects.Store.
func (r *Remote) Download(ctx context.Context, q objects.Request, path string) (objects.Result, error) {
	result, err := r.at.Download(ctx, q, path)
	return result, r.wrap(q.Name, r.explain(err))
}

// List implements objects.Store.
func (r *Remote) List(ctx context.Context, folder string) (all []objects.Object, err error) {
	err = r.limit(ctx, "listing "+folder, func(ctx context.Context) error {
		all, err = r.at.List(ctx, folder)
		return r.explain(err)
	})
	return all, r.wrap(folder, err)
}

// Stat implements objects.Store.
func (r *Remote) Stat(ctx context.Context, name string) (objects.Object, error) {
	o, err := r.at.Stat(ctx, name)
	return o, r.wrap(name, r.explain(err))
}

// Put implements objects.Store.
func (r *Remote) Put(ctx context.Context, name string, body io.Reader, size int64, only objects.Condition) error {
	return r.wrap(name, r.explain(r.at.Put(ctx, name, body, size, only)))
}

// Remove implements objects.Store.
func (r *Remote) Remove(ctx context.Context, listed objects.Object) (bool, error) {
	removed, err := r.at.Remove(ctx, listed)
	return removed, r.wrap(listed.Name, r.explain(err))
}

// explain marks an error that is neither about an object nor about this machine as one of the way
// to the store.
func (r *Remote) explain(err error) error {
	is := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
	}
	switch {
	case err == nil || is(objects.ErrCondition, objects.ErrReadOnly, fetch.ErrRefused, objects.ErrDisk):
		return err
	case is(objects.ErrNotModified):
		return objects.ErrNotModified
	case is(fs.ErrNotExist):
		return fs.ErrNotExist
	case is(objects.ErrMismatch, objects.ErrTooLarge):
		return fmt.Errorf("%w: %w", snapshot.ErrCorrupt, err)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// wrap names what an error is about.
func (r *Remote) wrap(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s/%s: %w", r.address, name, err)
}

// Version is a version of a channel: its content and its ETag.
type Version struct {
	store.Channel
	etag     string
	complete bool // the local store has all its files
}

// Channel reads a channel. If there is none the error is fs.ErrNotExist; pass the zero Version to
// Push then.
func (r *Remote) Channel(ctx context.Context, channel string) (Version, error) {
	return r.readChannel(ctx, channel, "")
}

func (r *Remote) readChannel(ctx context.Context, channel, etag string) (v Version, err error) {
	name, err := store.ChannelName(channel)
	if err != nil {
		return v, err
	}
	data, version, err := r.Read(ctx, name, etag, store.MaxChannel)
	if err != nil {
		return v, err
	}
	v.etag = version
	v.Channel, err = store.ParseChannel(data)
	return v, r.wrap(name, err)
}

// Replica is a local store that follows a channel of a remote one. Reading and fetching may run at
// the same time in several goroutines, as in several processes: a file gets its name in one step,
// once it is complete. Keep may not.
type Replica struct {
	remote  *Remote
	local   *store.Store
	channel string

	// Beside runs the work of deltas, which computes for long. NewReplica sets a plain call.
	Beside func(work func())

	making  sync.Mutex // held while a delta makes a segment
	applier snapshot.DeltaApplier
}

// NewReplica returns a Replica. If the local store requires signatures, the replica checks them
// before it downloads a segment.
func NewReplica(remote *Remote, local *store.Store, channel string) *Replica {
	return &Replica{
		remote: remote, local: local, channel: channel, Beside: func(work func()) { work() },
	}
}
