package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"

	"hdqs/internal/bucket"
	"hdqs/internal/fetch"
	"hdqs/loader/catalogfile"
)

// bucketSource is a tree in an S3-compatible store.
type bucketSource struct {
	listsAll
	at      *bucket.Location
	retries atomic.Int64
	max     int64         // bytes of a file
	total   time.Duration // for a file, all tries together; 0: no bound
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
	return &bucketSource{at: at, max: max, total: o.Fetch.Total}, nil
}

func (b *bucketSource) kind() string { return "s3" }

func (b *bucketSource) counts() fetch.Counts {
	c := b.at.Counts()
	return fetch.Counts{Requests: c.Requests, Retries: b.retries.Load(), Bytes: c.Received}
}

func (b *bucketSource) list(ctx context.Context) (*listing, error) {
	object, err := b.at.Client.GetObject(ctx, b.at.Bucket, b.at.Key("catalog.json"), minio.GetObjectOptions{})
	if err != nil {
		return nil, err
	}
	defer object.Close()
	data, err := io.ReadAll(io.LimitReader(object, catalogfile.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: catalog.json: %w", b.at, err)
	}
	if len(data) > catalogfile.MaxBytes {
		return nil, fmt.Errorf("%s: catalog.json is over %d bytes", b.at, catalogfile.MaxBytes)
	}
	c, err := parseTree(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.at, err)
	}
	found, err := b.glob(ctx, c.PackagePattern())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.at, err)
	}
	if err := c.AddPackages(found); err != nil {
		return nil, fmt.Errorf("%s: %w", b.at, err)
	}
	return treeListing(c, func(p string) string { return p }), nil
}

// maxListed bounds the objects that glob looks at, whether or not they match.
const maxListed = 10 * catalogfile.MaxFiles

// glob lists the objects that match a pattern, which may have * in its last part.
func (b *bucketSource) glob(ctx context.Context, pattern string) ([]string, error) {
	ctx, cancel := context.WithCancel(ctx) // stops the client's listing when it is left early
	defer cancel()
	root := b.at.Key("")
	if root != "" {
		root += "/"
	}
	var found []string
	listed := 0
	for object := range b.at.Client.ListObjects(ctx, b.at.Bucket,
		minio.ListObjectsOptions{Prefix: b.at.Key(path.Dir(pattern)) + "/"}) {
		if object.Err != nil {
			return nil, object.Err
		}
		if listed++; listed > maxListed || len(found) > catalogfile.MaxFiles {
			return nil, fmt.Errorf("the folder of packages %q has more than %d objects, or %d that match",
				pattern, maxListed, catalogfile.MaxFiles)
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

// bodyTries is how often a body that breaks off is asked for. Until the body begins, the client
// retries by itself.
const bodyTries = 4

func (b *bucketSource) download(ctx context.Context, f *FileState, d destination) (result fetch.Result, err error) {
	if b.total > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, b.total)
		defer cancel()
	}
	address := path.Join(b.at.String(), f.link)
	part, err := fetch.OpenPart(d.part, address, b.max, f.size)
	if err != nil {
		return result, err
	}
	defer part.Close()
	d.received(part.Written)
	for n := range bodyTries {
		if n > 0 {
			b.retries.Add(1)
			select {
			case <-ctx.Done():
				return result, errors.Join(fmt.Errorf("%s: %w", address, ctx.Err()), part.Abort(ctx.Err()))
			case <-time.After(time.Duration(n) * time.Second):
			}
		}
		var again bool
		if result, again, err = b.read(ctx, f, d, part); err == nil || !again || errors.Is(err, fetch.ErrDisk) {
			break
		}
	}
	switch {
	case err != nil:
		return result, errors.Join(fmt.Errorf("%s: %w", address, err), part.Abort(err))
	case result.NotModified:
		return result, part.Discard()
	}
	return result, part.Commit(d.to)
}

// read asks once for the rest of a file. again says that another attempt may get more.
func (b *bucketSource) read(ctx context.Context, f *FileState, d destination, part *fetch.Part) (result fetch.Result,
	again bool, err error,
) {
	if part.Written > 0 && part.Validator == "" {
		if err := restart(part, d, nil); err != nil {
			return result, false, err
		}
	}
	var o minio.GetObjectOptions
	from := part.Written
	switch {
	case from > 0:
		// The rest of an object that has been replaced must not be appended to the beginning of the
		// old one.
		err = errors.Join(o.SetRange(from, 0), o.SetMatchETag(strings.Trim(part.Validator, `"`)))
	case d.etag != "":
		err = o.SetMatchETagExcept(strings.Trim(d.etag, `"`))
	}
	if err != nil {
		return result, false, err
	}
	core := minio.Core{Client: b.at.Client} // makes one request where Client.GetObject makes two
	body, info, header, err := core.GetObject(ctx, b.at.Bucket, b.at.Key(f.link), o)
	if err != nil {
		var answer minio.ErrorResponse
		switch known := errors.As(err, &answer); {
		case known && answer.StatusCode == http.StatusNotModified:
			return fetch.Result{NotModified: true, ETag: d.etag}, false, nil
		case known && (answer.StatusCode == http.StatusPreconditionFailed ||
			answer.StatusCode == http.StatusRequestedRangeNotSatisfiable):
			return result, true, restart(part, d, err)
		default:
			return result, !known, err // the client has retried errors that may pass
		}
	}
	defer body.Close()
	etag := info.ETag
	if etag != "" {
		etag = `"` + etag + `"` // the client removes the quotes
	}
	switch {
	case from == 0:
	case header.Get("Content-Range") == "": // the whole file, for whatever reason
		if err := restart(part, d, nil); err != nil {
			return result, false, err
		}
	case etag != part.Validator || !strings.HasPrefix(header.Get("Content-Range"), fmt.Sprintf("bytes %d-", from)):
		// Not every service honours the condition.
		return result, true, restart(part, d,
			fmt.Errorf("got range %q of version %s, want bytes from %d of version %s",
				header.Get("Content-Range"), etag, from, part.Validator))
	}
	if err := part.Begin(etag); err != nil {
		return result, false, err
	}
	_, err = io.Copy(io.MultiWriter(part, byteCounter(d.received)), io.LimitReader(body, b.max-part.Written+1))
	switch {
	case err != nil:
		return result, !errors.Is(err, fetch.ErrDisk), fmt.Errorf("cut after %d bytes: %w", part.Written, err)
	case part.Written > b.max:
		return result, false, restart(part, d, fmt.Errorf("over the size limit of %d bytes", b.max))
	case f.size > 0 && part.Written != f.size:
		return result, true, restart(part, d, fmt.Errorf("%d bytes, the catalog says %d", part.Written, f.size))
	case f.SHA256 != "" && part.SHA256() != f.SHA256:
		return result, true, restart(part, d, fmt.Errorf("sha256 %s, the catalog says %s", part.SHA256(), f.SHA256))
	}
	return fetch.Result{ETag: info.ETag, Bytes: part.Written, SHA256: part.SHA256()}, false, nil
}

// restart discards what was downloaded, and returns why.
func restart(part *fetch.Part, d destination, why error) error {
	d.received(-part.Written)
	return errors.Join(why, part.Restart())
}

// byteCounter is a writer that reports how much is written to it.
type byteCounter func(n int64)

// Write counts.
func (c byteCounter) Write(p []byte) (int, error) {
	c(int64(len(p)))
	return len(p), nil
}
