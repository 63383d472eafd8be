package upstream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"

	"hdqs/internal/bucket"
	"hdqs/internal/fetch"
	"hdqs/loader/catalogfile"
)

// bucketSource is a tree in an S3-compatible store.
type bucketSource struct {
	listsAll
	remote
	at *bucket.Location
}

func openBucket(o Options) (source, error) {
	at, err := bucket.Open(o.Source)
	if err != nil {
		return nil, err
	}
	o.Fetch.Transport, o.Fetch.Parallel = objectTransport{at}, downloads
	return &bucketSource{remote: remote{fetch.New(o.Fetch)}, at: at}, nil
}

func (b *bucketSource) kind() string { return "s3" }

func (b *bucketSource) counts() fetch.Counts {
	c := b.at.Counts()
	return fetch.Counts{Requests: c.Requests, Retries: b.client.Counts().Retries, Bytes: c.Received}
}

// link is the address of a file in the tree.
func (b *bucketSource) link(name string) string {
	return (&url.URL{Scheme: "s3", Host: b.at.Bucket, Path: "/" + b.at.Key(name)}).String()
}

func (b *bucketSource) list(ctx context.Context) (*listing, error) {
	data, _, err := b.client.Read(ctx, fetch.Request{URL: b.link(catalogfile.Name)}, catalogfile.MaxBytes)
	if err != nil {
		return nil, err
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
	return treeListing(c, b.link), nil
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

// objectTransport answers the requests of a fetch.Client with objects of a bucket.
type objectTransport struct{ at *bucket.Location }

// RoundTrip implements http.RoundTripper.
func (t objectTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	var o minio.GetObjectOptions
	version := r.Header.Get("If-Range")
	if version != "" { // a bucket knows no If-Range
		o.Set("Range", r.Header.Get("Range"))
		o.Set("If-Match", version)
	}
	if etag := r.Header.Get("If-None-Match"); etag != "" {
		o.Set("If-None-Match", etag)
	}
	core := minio.Core{Client: t.at.Client} // makes one request where Client.GetObject makes two
	body, _, header, err := core.GetObject(r.Context(), t.at.Bucket, strings.TrimPrefix(r.URL.Path, "/"), o)
	answer := &http.Response{
		Request: r, Header: header, StatusCode: http.StatusOK, Body: http.NoBody, ContentLength: -1,
	}
	var known minio.ErrorResponse
	switch {
	case err == nil && version != "" && header.Get("ETag") != version: // not every service honours If-Match
		answer.StatusCode = http.StatusRequestedRangeNotSatisfiable
		return answer, body.Close()
	case err == nil:
		if answer.Body = body; header.Get("Content-Range") != "" {
			answer.StatusCode = http.StatusPartialContent
		}
	case !errors.As(err, &known):
		return nil, err
	case known.StatusCode == http.StatusNotModified:
		answer.StatusCode = known.StatusCode
	case known.StatusCode == http.StatusPreconditionFailed,
		known.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		answer.StatusCode = http.StatusRequestedRangeNotSatisfiable
	default:
		return nil, fetch.Final(err) // the client has retried errors that may pass
	}
	return answer, nil
}
