// Package objects is the one way to the files of a store, a catalog and a mirror, wherever they
// are. Dir has them in a directory; fetch.Objects reads them over HTTP, and bucket.Location reads
// and writes those of an S3 bucket. objectstest has the tests that all three pass.
//
// A download arrives in a Part: it is counted, hashed and compared with its Request, and gets its
// name only when it is complete. Retries are those of the client of each kind.
package objects

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"
)

// Object describes an object.
type Object struct {
	Name     string // relative to the root of the store, with slashes
	Bytes    int64
	Modified time.Time
	ETag     string // "" in the list of a directory; the MD5 of the bytes in a directory and in most buckets
}

// Condition restricts a write. The zero value is no condition.
type Condition struct {
	Absent bool   // there must be no such object
	ETag   string // the object must have this ETag
}

// The errors of a Store. Besides them, a missing object is fs.ErrNotExist, content that cannot be
// the right one ErrMismatch or ErrTooLarge, and a file that cannot be written here ErrDisk.
var (
	// ErrNotModified marks an object that still has the ETag of the request.
	ErrNotModified = errors.New("not modified")
	// ErrCondition marks a write whose condition was not met.
	ErrCondition = errors.New("precondition failed")
	// ErrReadOnly marks a write to objects that can only be read.
	ErrReadOnly = errors.New("store is read-only, want a directory or an s3:// address")
)

// Traffic counts requests, failed tries included, and bytes of bodies. A directory has only
// Received, of downloads.
type Traffic struct{ Requests, Retries, Sent, Received int64 }

// Minus returns the traffic since an earlier one.
func (t Traffic) Minus(earlier Traffic) Traffic {
	return Traffic{
		Requests: t.Requests - earlier.Requests, Retries: t.Retries - earlier.Retries,
		Sent: t.Sent - earlier.Sent, Received: t.Received - earlier.Received,
	}
}

// Store has objects by name. Goroutines may share it.
type Store interface {
	// Read returns an object of at most limit bytes and its ETag, or ErrNotModified if it has etag.
	Read(ctx context.Context, name, etag string, limit int64) (data []byte, version string, err error)
	// Download writes an object to a file, which it replaces only by a complete and checked one.
	Download(ctx context.Context, q Request, path string) (Result, error)
	// List returns all objects of a folder and of those in it; "" is the root. A folder that is
	// missing has none.
	List(ctx context.Context, folder string) ([]Object, error)
	// Stat returns an object with its ETag. Its time may differ from that of List by less than a
	// second.
	Stat(ctx context.Context, name string) (Object, error)
	// Put writes an object in one step. If the condition is not met the error is ErrCondition.
	Put(ctx context.Context, name string, body io.Reader, size int64, only Condition) error
	// Remove removes an object, unless it was rewritten since it was listed.
	Remove(ctx context.Context, listed Object) (removed bool, err error)
	// Traffic returns the traffic so far.
	Traffic() Traffic
}

// IsRemote reports whether an address is not that of a directory.
func IsRemote(address string) bool {
	return slices.ContainsFunc([]string{"s3://", "https://", "http://"}, func(scheme string) bool {
		return strings.HasPrefix(address, scheme)
	})
}

// MostListed bounds List of a bucket, whose owner need not be trusted.
const MostListed = 250_000

// PutBytes is Put of a text, without a condition. Without data there is no object.
func PutBytes(ctx context.Context, s Store, name string, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	return s.Put(ctx, name, bytes.NewReader(data), int64(len(data)), Condition{})
}

// PutFile is Put of a file, without a condition.
func PutFile(ctx context.Context, s Store, name, path string) error {
	in, err := OpenRegular(path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	return s.Put(ctx, name, in, info.Size(), Condition{})
}

// ReadOnly is the part of a Store that can neither be listed nor written.
type ReadOnly struct{}

// List implements Store.
func (ReadOnly) List(context.Context, string) ([]Object, error) { return nil, ErrReadOnly }

// Stat implements Store.
func (ReadOnly) Stat(context.Context, string) (Object, error) { return Object{}, ErrReadOnly }

// Put implements Store.
func (ReadOnly) Put(context.Context, string, io.Reader, int64, Condition) error { return ErrReadOnly }

// Remove implements Store.
func (ReadOnly) Remove(context.Context, Object) (bool, error) { return false, ErrReadOnly }
