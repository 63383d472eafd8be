package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"hdqs/internal/fetch"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// The errors of this package. What is there but wrong is snapshot.ErrCorrupt or store.ErrSignature, and what is not there fs.ErrNotExist.
var (
	// ErrAway marks a remote store that could not be reached, or would not answer.
	ErrAway = errors.New("replica: remote store is away")
	// ErrLost marks a channel that someone else has moved first.
	ErrLost = errors.New("replica: channel was moved by someone else")
	// ErrReadOnly marks a change to a store that can only be read.
	ErrReadOnly = errors.New("replica: store can only be read")
)

// errSame says that an object still is the version that was asked about.
var errSame = errors.New("replica: not modified")

// errCondition says that an object is not the version that a write depends on.
var errCondition = errors.New("replica: condition of a write does not hold")

// Traffic is what went over the network: requests, failed tries included, and bytes of bodies.
type Traffic struct {
	Requests int64 `json:"requests"`
	Sent     int64 `json:"sent_bytes"`
	Received int64 `json:"received_bytes"`
}

// Minus is the traffic since an earlier count.
func (t Traffic) Minus(earlier Traffic) Traffic {
	return Traffic{Requests: t.Requests - earlier.Requests, Sent: t.Sent - earlier.Sent, Received: t.Received - earlier.Received}
}

// entry is an object of a listing.
type entry struct {
	store.Object
	etag string
}

// condition is what a write depends on; the zero value is nothing.
type condition struct {
	absent bool   // there must be no such object
	etag   string // or it must be this version
}

// objects are the files of a remote store. Their errors are fs.ErrNotExist, errSame, errCondition, ErrReadOnly and otherwise ErrAway.
type objects interface {
	// read gives a small object, unless etag is its version still.
	read(ctx context.Context, name, etag string, limit int64) (data []byte, version string, err error)
	// download writes an object of a known size into an empty file.
	download(ctx context.Context, name string, ref store.SegmentRef, file *os.File) error
	list(ctx context.Context, folder string) ([]entry, error)
	// stat tells what a listing would of one object; its time is that of the listing to the second.
	stat(ctx context.Context, name string) (entry, error)
	put(ctx context.Context, name string, body io.Reader, size int64, only condition) error
	remove(ctx context.Context, name string) error
	traffic() Traffic
}

// Remote is a store somewhere else. Any number of goroutines may use it.
type Remote struct {
	address string
	objects objects
}

// IsRemote tells whether an address of a store is one of a remote store.
func IsRemote(address string) bool {
	return strings.HasPrefix(address, "s3://") || strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
}

// Open makes a Remote of s3://bucket/prefix, or of the https:// address of a store's root, which can only be read. Nothing is asked yet. The
// options are for web addresses; their Tries are 3 unless they say otherwise.
func Open(address string, o fetch.Options) (*Remote, error) {
	r := &Remote{address: strings.TrimRight(address, "/")}
	var err error
	switch {
	case strings.HasPrefix(address, "s3://"):
		r.objects, err = openBucket(address)
	case IsRemote(address):
		if o.Tries == 0 {
			o.Tries = 3
		}
		if o.BackoffMax == 0 {
			o.BackoffMax = 5 * time.Second
		}
		if o.Parallel == 0 {
			o.Parallel = parallel
		}
		r.objects = &web{base: r.address, client: fetch.New(o)}
	default:
		err = fmt.Errorf("%q is not an address like s3://bucket/prefix or https://host/path", address)
	}
	return r, err
}

// parallel is how many segments travel at once.
const parallel = 4

// Address is what Open was given, without slashes at its end.
func (r *Remote) Address() string { return r.address }

// Traffic tells what has travelled so far.
func (r *Remote) Traffic() Traffic { return r.objects.traffic() }

// Version is a channel as it was read: its content, and what a write names it by.
type Version struct {
	store.Channel
	etag string
}

// Read reads a channel. Without it the error is fs.ErrNotExist, and the zero Version stands for it in Push.
func (r *Remote) Read(ctx context.Context, channel string) (Version, error) {
	return r.readChannel(ctx, channel, "")
}

func (r *Remote) readChannel(ctx context.Context, channel, etag string) (v Version, err error) {
	name, err := store.ChannelName(channel)
	if err != nil {
		return v, err
	}
	data, version, err := r.objects.read(ctx, name, etag, store.MaxChannel)
	if err != nil {
		return v, r.in(name, err)
	}
	v.etag = version
	if v.Channel, err = store.ParseChannel(data); err != nil {
		return v, r.in(name, err)
	}
	return v, nil
}

// in tells an error's place.
func (r *Remote) in(name string, err error) error {
	return fmt.Errorf("%s/%s: %w", r.address, name, err)
}

// corrupt marks what is wrong with a remote store as such.
func (r *Remote) corrupt(format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", r.address, snapshot.ErrCorrupt, fmt.Sprintf(format, args...))
}
