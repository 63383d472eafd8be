package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"hdqs/internal/bucket"
	"hdqs/internal/fetch"
	"hdqs/snapshot/store"
)

// Open returns the store at s3://bucket/prefix, or the read-only store below an https:// address.
// It sends no request. The options apply to web addresses; Tries defaults to 3.
func Open(address string, o fetch.Options) (*Remote, error) {
	r := &Remote{address: strings.TrimRight(address, "/"), Timeout: DefaultTimeout}
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
		err = fmt.Errorf("store address %q: want s3://bucket/prefix or https://host/path", address)
	}
	return r, err
}

// bucketObjects accesses the objects below a prefix of a bucket.
type bucketObjects struct {
	web
	at *bucket.Location
}

func openBucket(address string) (objects, error) {
	at, err := bucket.Open(address)
	if err != nil {
		return nil, err
	}
	o := fetch.Options{
		Transport: at, Tries: 4, BackoffMin: 100 * time.Millisecond, Parallel: parallel, MaxBytes: math.MaxInt64,
	}
	return &bucketObjects{web: web{base: at.URL(""), client: fetch.New(o)}, at: at}, nil
}

func (b *bucketObjects) traffic() Traffic { return b.at.Counts() }

func (b *bucketObjects) read(ctx context.Context, name, etag string, limit int64) ([]byte, string, error) {
	data, version, err := b.web.read(ctx, name, etag, limit)
	return data, strings.Trim(version, `"`), err
}

func (b *bucketObjects) list(ctx context.Context, folder string) ([]entry, error) {
	// Canceling ctx stops the listing of the client when this function returns early.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	prefix := b.at.Prefix
	if prefix != "" {
		prefix += "/"
	}
	o := minio.ListObjectsOptions{Prefix: prefix + folder, Recursive: true}
	if folder != "" {
		o.Prefix += "/"
	}
	var entries []entry
	for info := range b.at.Client.ListObjects(ctx, b.at.Bucket, o) {
		if info.Err != nil {
			return nil, bucketError(info.Err)
		}
		entries = append(entries, entry{
			Object: store.Object{
				Name: strings.TrimPrefix(info.Key, prefix), Bytes: info.Size, Modified: info.LastModified,
			},
			etag: strings.Trim(info.ETag, `"`),
		})
	}
	return entries, nil
}

func (b *bucketObjects) stat(ctx context.Context, name string) (entry, error) {
	info, err := b.at.Client.StatObject(ctx, b.at.Bucket, b.at.Key(name), minio.StatObjectOptions{})
	if err != nil {
		return entry{}, bucketError(err)
	}
	return entry{Object: store.Object{Name: name, Bytes: info.Size, Modified: info.LastModified}, etag: info.ETag}, nil
}

func (b *bucketObjects) put(ctx context.Context, name string, body io.Reader, size int64, only condition) error {
	// An object that is uploaded in one request has the MD5 of its bytes as ETag, and a killed
	// writer leaves no parts of it.
	o := minio.PutObjectOptions{DisableMultipart: true, ContentType: "application/octet-stream"}
	if strings.HasSuffix(name, ".json") {
		o.ContentType = "application/json"
	}
	switch {
	case only.absent:
		o.SetMatchETagExcept("*")
	case only.etag != "":
		o.SetMatchETag(only.etag)
	}
	if _, err := b.at.Client.PutObject(ctx, b.at.Bucket, b.at.Key(name), body, size, o); err != nil {
		err = bucketError(err)
		if errors.Is(err, fs.ErrNotExist) && only.etag != "" {
			return errPrecondition
		}
		return err
	}
	return nil
}

func (b *bucketObjects) remove(ctx context.Context, name string) error {
	if err := b.at.Client.RemoveObject(ctx, b.at.Bucket, b.at.Key(name), minio.RemoveObjectOptions{}); err != nil {
		return bucketError(err)
	}
	return nil
}
