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

// bucketObjects are objects below a prefix of a bucket.
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

// fault gives an answer of the service its meaning. Only answers about one object say that it is not there: a missing bucket is another matter.
func fault(err error) error {
	var answer minio.ErrorResponse
	if errors.As(err, &answer) {
		switch {
		case answer.StatusCode == http.StatusNotModified:
			return errSame
		case answer.StatusCode == http.StatusPreconditionFailed || answer.Code == "ConditionalRequestConflict":
			return errCondition
		case answer.Code == "NoSuchKey":
			return fs.ErrNotExist
		}
	}
	return fmt.Errorf("%w: %w", ErrAway, err)
}

// open begins to read an object, from an offset.
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
	core := minio.Core{Client: b.at.Client} // one request, where the client's own GetObject makes two
	body, info, _, err := core.GetObject(ctx, b.at.Bucket, b.at.Key(name), o)
	if err != nil {
		return nil, "", fault(err)
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
		return nil, "", fmt.Errorf("%w: cut after %d bytes: %w", ErrAway, len(data), err)
	case int64(len(data)) > limit:
		return nil, "", fmt.Errorf("%w: more than %d bytes", snapshot.ErrCorrupt, limit)
	}
	return data, version, nil
}

// resumes is how often a body that was cut is taken up again where it ended.
const resumes = 3

func (b *bucketObjects) download(ctx context.Context, name string, ref store.SegmentRef, file *os.File) error {
	at := int64(0)
	for try := 0; ; try++ {
		n, err := b.copy(ctx, name, at, ref.Bytes, file)
		at += n
		switch {
		case err == nil && at != ref.Bytes:
			return fmt.Errorf("%w: %d bytes or more, the manifest says %d", snapshot.ErrCorrupt, at, ref.Bytes)
		case err == nil:
			return nil
		case !errors.Is(err, ErrAway) || try == resumes || ctx.Err() != nil || n == 0:
			return err
		}
	}
}

// copy appends what is left of an object to a file, at most one byte more than there should be.
func (b *bucketObjects) copy(ctx context.Context, name string, from, size int64, file *os.File) (int64, error) {
	body, _, err := b.open(ctx, name, "", from)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	n, err := io.Copy(onDisk{file}, io.LimitReader(body, size-from+1))
	if errors.Is(err, fetch.ErrDisk) {
		return n, err
	}
	if err != nil {
		return n, fmt.Errorf("%w: cut after %d bytes: %w", ErrAway, from+n, err)
	}
	return n, nil
}

// onDisk marks the errors of writing to a file: they say nothing of the service.
type onDisk struct{ file *os.File }

// Write writes.
func (d onDisk) Write(p []byte) (int, error) {
	n, err := d.file.Write(p)
	if err != nil {
		err = fmt.Errorf("%w: %w", fetch.ErrDisk, err)
	}
	return n, err
}

func (b *bucketObjects) list(ctx context.Context, folder string) ([]entry, error) {
	// The end of ctx is what stops the client's listing when it is left early.
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
			return nil, fault(info.Err)
		}
		entries = append(entries, entry{
			Object: store.Object{Name: strings.TrimPrefix(info.Key, prefix), Bytes: info.Size, Modified: info.LastModified},
			etag:   strings.Trim(info.ETag, `"`),
		})
	}
	return entries, nil
}

func (b *bucketObjects) stat(ctx context.Context, name string) (entry, error) {
	info, err := b.at.Client.StatObject(ctx, b.at.Bucket, b.at.Key(name), minio.StatObjectOptions{})
	if err != nil {
		return entry{}, fault(err)
	}
	return entry{Object: store.Object{Name: name, Bytes: info.Size, Modified: info.LastModified}, etag: info.ETag}, nil
}

func (b *bucketObjects) put(ctx context.Context, name string, body io.Reader, size int64, only condition) error {
	// One request an object: its ETag is then the MD5 of its bytes, and there are no parts that a killed writer leaves behind.
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
		err = fault(err)
		if errors.Is(err, fs.ErrNotExist) && only.etag != "" {
			return errCondition
		}
		return err
	}
	return nil
}

func (b *bucketObjects) remove(ctx context.Context, name string) error {
	if err := b.at.Client.RemoveObject(ctx, b.at.Bucket, b.at.Key(name), minio.RemoveObjectOptions{}); err != nil {
		return fault(err)
	}
	return nil
}
