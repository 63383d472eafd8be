package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"hdqs/internal/bucket"
	"hdqs/internal/fetch"
	"hdqs/snapshot/store"
)

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
