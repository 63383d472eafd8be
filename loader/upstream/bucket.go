package upstream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"

	"hdqs/bucket"
	"hdqs/fetch"
)

// bucketSource is a tree in an S3-compatible store.
type bucketSource struct {
	at       *bucket.Location
	requests atomic.Int64
	retries  atomic.Int64
	bytes    atomic.Int64
	max      int64
}

func openBucket(o Options) (source, error) {
	at, err := bucket.Open(o.Source)
	if err != nil {
		return nil, err
	}
	max := o.Fetch.MaxBytes
	if max == 0 {
		max = 2 << 30
	}
	return &bucketSource{at: at, max: max}, nil
}

func (b *bucketSource) kind() string { return "s3" }

func (b *bucketSource) counts() fetch.Counts {
	return fetch.Counts{Requests: b.requests.Load(), Retries: b.retries.Load(), Bytes: b.bytes.Load()}
}

func (b *bucketSource) list(ctx context.Context) (*listing, error) {
	b.requests.Add(1)
	object, err := b.at.Client.GetObject(ctx, b.at.Bucket, b.at.Key("catalog.json"), minio.GetObjectOptions{})
	if err != nil {
		return nil, err
	}
	defer object.Close()
	const limit = 16 << 20
	data, err := io.ReadAll(io.LimitReader(object, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: catalog.json: %w", b.at, err)
	}
	b.bytes.Add(int64(len(data)))
	var c catalogFile
	if len(data) > limit {
		return nil, fmt.Errorf("%s: catalog.json is over %d bytes", b.at, limit)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("%s: catalog.json: %w", b.at, err)
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", b.at, err)
	}
	found, err := b.glob(ctx, c.packagePattern())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.at, err)
	}
	c.addPackages(found)
	return c.listing(func(p string) string { return p }), nil
}

// glob lists the objects that a pattern names, which may have * in its last part.
func (b *bucketSource) glob(ctx context.Context, pattern string) ([]string, error) {
	ctx, cancel := context.WithCancel(ctx) // stops the client's listing when it is left early
	defer cancel()
	b.requests.Add(1)
	root := b.at.Key("")
	if root != "" {
		root += "/"
	}
	var found []string
	for object := range b.at.Client.ListObjects(ctx, b.at.Bucket, minio.ListObjectsOptions{Prefix: b.at.Key(path.Dir(pattern)) + "/"}) {
		if object.Err != nil {
			return nil, object.Err
		}
		name := strings.TrimPrefix(object.Key, root)
		fits, err := path.Match(pattern, name)
		if err != nil {
			return nil, fmt.Errorf("catalog.json: packages %q: %w", pattern, err)
		}
		if fits && fs.ValidPath(name) {
			found = append(found, name)
		}
	}
	return found, nil
}

// bodyTries is how often a body is asked for that breaks off; before it begins the client tries again by itself.
const bodyTries = 4

func (b *bucketSource) download(ctx context.Context, f *FileState, w wanted) (result fetch.Result, err error) {
	for n := range bodyTries {
		if n > 0 {
			b.retries.Add(1)
			select {
			case <-ctx.Done():
				return result, ctx.Err()
			case <-time.After(time.Duration(n) * time.Second):
			}
		}
		var received int64
		result, err = b.read(ctx, f, w.etag, w.to, func(n int64) {
			received += n
			w.received(n)
		})
		var answer minio.ErrorResponse
		if err == nil || errors.As(err, &answer) {
			break
		}
		w.received(-received)
	}
	return result, err
}

func (b *bucketSource) describes() bool { return false }

// read asks for a file once.
func (b *bucketSource) read(ctx context.Context, f *FileState, etag, to string, received func(n int64)) (fetch.Result, error) {
	b.requests.Add(1)
	var o minio.GetObjectOptions
	if etag != "" {
		if err := o.SetMatchETagExcept(strings.Trim(etag, `"`)); err != nil {
			return fetch.Result{}, err
		}
	}
	object, err := b.at.Client.GetObject(ctx, b.at.Bucket, b.at.Key(f.link), o)
	if err != nil {
		return fetch.Result{}, err
	}
	defer object.Close()
	info, err := object.Stat()
	if err != nil {
		var answer minio.ErrorResponse
		if errors.As(err, &answer) && answer.StatusCode == http.StatusNotModified {
			return fetch.Result{NotModified: true, ETag: etag}, nil
		}
		return fetch.Result{}, fmt.Errorf("%s: %w", path.Join(b.at.String(), f.link), err)
	}
	result, err := copyObject(object, to, b.max, received)
	b.bytes.Add(result.Bytes)
	result.ETag = info.ETag
	switch {
	case err != nil:
	case f.size > 0 && result.Bytes != f.size:
		err = fmt.Errorf("%d bytes, the catalog says %d", result.Bytes, f.size)
	case f.SHA256 != "" && result.SHA256 != f.SHA256:
		err = fmt.Errorf("sha256 %s, the catalog says %s", result.SHA256, f.SHA256)
	default:
		return result, nil
	}
	return result, errors.Join(fmt.Errorf("%s: %w", f.link, err), os.Remove(to))
}

// tally is a writer that only counts.
type tally func(n int64)

// Write counts.
func (t tally) Write(p []byte) (int, error) {
	t(int64(len(p)))
	return len(p), nil
}

func copyObject(from io.Reader, to string, limit int64, received func(n int64)) (result fetch.Result, err error) {
	file, err := os.Create(to)
	if err != nil {
		return result, err
	}
	sum := sha256.New()
	result.Bytes, err = io.Copy(io.MultiWriter(file, sum, tally(received)), io.LimitReader(from, limit+1))
	result.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if err == nil && result.Bytes > limit {
		err = fmt.Errorf("over the size limit of %d bytes", limit)
	}
	return result, errors.Join(err, file.Sync(), file.Close())
}

func (b *bucketSource) more(context.Context, []string) (*listing, error) { return &listing{}, nil }
