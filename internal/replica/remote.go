package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"

	"hdqs/internal/bucket"
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
	// ErrReadOnly marks a write to a store that can only be read.
	ErrReadOnly = errors.New("replica: store is read-only, want an s3:// address")
)

// errNotModified marks an object that still has the ETag of the request.
var errNotModified = errors.New("replica: not modified")

// errPrecondition marks a write whose condition was not met.
var errPrecondition = errors.New("replica: precondition failed")

// Traffic counts requests, failed tries included, and bytes of bodies.
type Traffic = bucket.Counts

type entry struct {
	store.Object
	etag string
}

// condition restricts a write. The zero value is no condition.
type condition struct {
	absent bool   // the object must not exist
	etag   string // the object must have this ETag
}

// objects accesses the files of a remote store. The errors are fs.ErrNotExist, errNotModified,
// errPrecondition and ErrReadOnly; all others are ErrUnavailable.
type objects interface {
	// read returns an object of at most limit bytes and its ETag, or errNotModified if it has etag.
	read(ctx context.Context, name, etag string, limit int64) (data []byte, version string, err error)
	// download writes a segment to an empty file.
	download(ctx context.Context, name string, ref store.SegmentRef, file *os.File) error
	list(ctx context.Context, folder string) ([]entry, error)
	// stat returns the entry of one object. Its time may differ from that of list by a fraction of
	// a second.
	stat(ctx context.Context, name string) (entry, error)
	put(ctx context.Context, name string, body io.Reader, size int64, only condition) error
	remove(ctx context.Context, name string) error
	traffic() Traffic
}

// Remote is a remote store. Goroutines may share it.
type Remote struct {
	address string
	objects objects

	// Timeout is the longest time for reading a small file, for listing a folder, and for moving a
	// channel. Open sets DefaultTimeout. Segments have no such limit: a transfer fails when it
	// stalls.
	Timeout time.Duration
	// Waiting is called when one of these takes longer than a second; may be nil.
	Waiting func(what string)
}

// DefaultTimeout is long enough for two lost connections and short enough to wait for.
const DefaultTimeout = 10 * time.Second

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

// IsRemote reports whether the address of a store is that of a remote one.
func IsRemote(address string) bool {
	return slices.ContainsFunc([]string{"s3://", "https://", "http://"}, func(scheme string) bool {
		return strings.HasPrefix(address, scheme)
	})
}

// parallel is how many segments are transferred at once.
const parallel = 4

// Address returns the address without trailing slashes.
func (r *Remote) Address() string { return r.address }

// Traffic returns the traffic so far.
func (r *Remote) Traffic() Traffic { return r.objects.traffic() }

// Version is a version of a channel: its content and its ETag.
type Version struct {
	store.Channel
	etag     string
	complete bool // the local store has all its files
}

// Read returns a channel. If there is none the error is fs.ErrNotExist; pass the zero Version to
// Push then.
func (r *Remote) Read(ctx context.Context, channel string) (Version, error) {
	return r.readChannel(ctx, channel, "")
}

func (r *Remote) readChannel(ctx context.Context, channel, etag string) (v Version, err error) {
	name, err := store.ChannelName(channel)
	if err != nil {
		return v, err
	}
	data, version, err := r.readVersion(ctx, name, etag, store.MaxChannel)
	if err != nil {
		return v, err
	}
	v.etag = version
	if v.Channel, err = store.ParseChannel(data); err != nil {
		return v, r.wrap(name, err)
	}
	return v, nil
}

// read returns a file of at most limit bytes.
func (r *Remote) read(ctx context.Context, name string, limit int64) ([]byte, error) {
	data, _, err := r.readVersion(ctx, name, "", limit)
	return data, err
}

// readVersion is read of a file that may be unchanged, for errNotModified, with its version.
func (r *Remote) readVersion(
	ctx context.Context, name, etag string, limit int64,
) (data []byte, version string, err error) {
	err = r.limit(ctx, "reading "+name, func(ctx context.Context) error {
		data, version, err = r.objects.read(ctx, name, etag, limit)
		return err
	})
	if err != nil {
		return nil, "", r.wrap(name, err)
	}
	return data, version, nil
}

func (r *Remote) wrap(name string, err error) error {
	return fmt.Errorf("%s/%s: %w", r.address, name, err)
}

// bucketError maps an error of the S3 client to those of objects. A missing bucket is not a missing
// object: it is ErrUnavailable.
func bucketError(err error) error {
	var answer minio.ErrorResponse
	if errors.As(err, &answer) {
		switch {
		case answer.StatusCode == http.StatusNotModified:
			return errNotModified
		case answer.StatusCode == http.StatusPreconditionFailed || answer.Code == "ConditionalRequestConflict":
			return errPrecondition
		case answer.Code == "NoSuchBucket":
			return fmt.Errorf("%w: there is no such bucket: make it, or correct the address: %w", ErrUnavailable, err)
		case answer.Code == "NoSuchKey":
			return fs.ErrNotExist
		case answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusUnauthorized:
			return fmt.Errorf("%w: it refused access, check the credentials and their permissions: %w",
				ErrUnavailable, err)
		}
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
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
