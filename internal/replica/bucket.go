package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"github.com/minio/minio-go/v7"

	"hdqs/internal/bucket"
	"hdqs/internal/fetch"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// bucketObjects accesses the objects below a prefix of a bucket.
type bucketObjects struct{ at *bucket.Location }

func openBucket(address string) (objects, error) {
	at, err := bucket.Open(address)
	if err != nil {
		return nil, err
	}
	return &bucketObjects{at: at}, nil
}

func (b *bucketObjects) traffic() Traffic {
	c := b.at.Counts()
	return Traffic{Requests: c.Requests, Sent: c.Sent, Received: c.Received}
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
		case answer.Code == "NoSuchKey":
			return fs.ErrNotExist
		case answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusUnauthorized:
			return fmt.Errorf("%w: it refused access, check the credentials and their permissions: %w",
				ErrUnavailable, err)
		}
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// open reads an object from an offset.
func (b *bucketObjects) open(ctx context.Context, name, etag string, from int64) (io.ReadCloser, string, error) {
	var o minio.GetObjectOptions
	if etag != "" {
		if err := o.SetMatchETagExcept(etag); err != nil {
			return nil, "", err
		}
	}
	if from > 0 {
		if err := o.SetRange(from, 0); err != nil {
			return nil, "", err
		}
	}
	core := minio.Core{Client: b.at.Client} // its GetObject sends one request, that of Client two
	body, info, _, err := core.GetObject(ctx, b.at.Bucket, b.at.Key(name), o)
	if err != nil {
		return nil, "", bucketError(err)
	}
	return body, info.ETag, nil
}

func (b *bucketObjects) read(ctx context.Context, name, etag string, limit int64) ([]byte, string, error) {
	body, version, err := b.open(ctx, name, etag, 0)
	if err != nil {
		return nil, "", err
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("%w: body cut after %d bytes: %w", ErrUnavailable, len(data), err)
	case int64(len(data)) > limit:
		return nil, "", fmt.Errorf("%w: the file has more than the allowed %d bytes", snapshot.ErrCorrupt, limit)
	}
	return data, version, nil
}

// resumes is how often a download that was cut is resumed.
const resumes = 3

func (b *bucketObjects) download(ctx context.Context, name string, ref store.SegmentRef, file *os.File) error {
	at := int64(0)
	for try := 0; ; try++ {
		n, err := b.copy(ctx, name, at, ref.Bytes, file)
		at += n
		switch {
		case err == nil && at != ref.Bytes:
			return fmt.Errorf("%w: the segment has %d bytes or more, the manifest says %d",
				snapshot.ErrCorrupt, at, ref.Bytes)
		case err == nil:
			return nil
		case !errors.Is(err, ErrUnavailable) || try == resumes || ctx.Err() != nil || n == 0:
			return err
		}
	}
}

// copy appends the rest of an object to a file. It reads at most one byte more than size, which
// shows that the object is too long.
func (b *bucketObjects) copy(ctx context.Context, name string, from, size int64, file *os.File) (int64, error) {
	body, _, err := b.open(ctx, name, "", from)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	n, err := io.Copy(diskWriter{file}, io.LimitReader(body, size-from+1))
	if errors.Is(err, fetch.ErrDisk) {
		return n, err
	}
	if err != nil {
		return n, fmt.Errorf("%w: body cut after %d bytes: %w", ErrUnavailable, from+n, err)
	}
	return n, nil
}

// diskWriter marks write errors with fetch.ErrDisk: they are no fault of the service.
type diskWriter struct{ file *os.File }

// Write implements io.Writer.
func (d diskWriter) Write(p []byte) (int, error) {
	n, err := d.file.Write(p)
	if err != nil {
		err = fmt.Errorf("%w: %w", fetch.ErrDisk, err)
	}
	return n, err
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
