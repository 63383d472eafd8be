package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"hdqs/internal/fetch"
	"hdqs/internal/objects"
)

// RoundTrip answers the requests of a fetch.Client with objects of the bucket.
func (l *Location) RoundTrip(r *http.Request) (*http.Response, error) {
	var o minio.GetObjectOptions
	version := r.Header.Get("If-Range")
	if version != "" { // buckets have no If-Range
		o.Set("Range", r.Header.Get("Range"))
		o.Set("If-Match", version)
	}
	if etag := r.Header.Get("If-None-Match"); etag != "" {
		o.Set("If-None-Match", `"`+strings.Trim(etag, `"`)+`"`)
	}
	core := minio.Core{Client: l.client} // makes one request where Client.GetObject makes two
	body, _, header, err := core.GetObject(r.Context(), l.bucket, strings.TrimPrefix(r.URL.Path, "/"), o)
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
		return nil, fetch.Final(explain(err)) // the client has retried errors that may pass
	}
	return answer, nil
}

// missing is an error of the S3 client that is about an object that is not there.
type missing struct{ error }

// Is reports whether a target is fs.ErrNotExist.
func (missing) Is(target error) bool { return target == fs.ErrNotExist }

// explain adds to an error of the S3 client what helps. A missing bucket is not a missing object.
func explain(err error) error {
	var answer minio.ErrorResponse
	if errors.As(err, &answer) {
		switch {
		case answer.StatusCode == http.StatusPreconditionFailed || answer.Code == "ConditionalRequestConflict":
			return objects.ErrCondition
		case answer.Code == "NoSuchBucket":
			return fmt.Errorf("there is no such bucket: make it, or correct the address: %w", err)
		case answer.Code == "NoSuchKey":
			return missing{err}
		case answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusUnauthorized:
			return fmt.Errorf("it refused access, check the credentials and their permissions: %w", err)
		}
	}
	return err
}

// List implements objects.Store.
func (l *Location) List(ctx context.Context, folder string) (all []objects.Object, err error) {
	// Canceling ctx stops the listing of the client when this function returns early.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	prefix := l.prefix
	if prefix != "" {
		prefix += "/"
	}
	o := minio.ListObjectsOptions{Prefix: prefix + folder, Recursive: true}
	if folder != "" {
		o.Prefix += "/"
	}
	for info := range l.client.ListObjects(ctx, l.bucket, o) {
		if info.Err != nil {
			return nil, explain(info.Err)
		}
		if len(all) == objects.MostListed {
			return nil, fmt.Errorf("the folder %q has more than %d objects", folder, objects.MostListed)
		}
		all = append(all, objectOf(strings.TrimPrefix(info.Key, prefix), info))
	}
	return all, nil
}

func objectOf(name string, info minio.ObjectInfo) objects.Object {
	return objects.Object{
		Name: name, Bytes: info.Size, Modified: info.LastModified, ETag: strings.Trim(info.ETag, `"`),
	}
}

// Stat implements objects.Store.
func (l *Location) Stat(ctx context.Context, name string) (objects.Object, error) {
	info, err := l.client.StatObject(ctx, l.bucket, l.key(name), minio.StatObjectOptions{})
	if err != nil {
		return objects.Object{}, explain(err)
	}
	return objectOf(name, info), nil
}

// Put implements objects.Store.
func (l *Location) Put(
	ctx context.Context, name string, body io.Reader, size int64, only objects.Condition,
) error {
	// An object that is uploaded in one request has the MD5 of its bytes as ETag, and a killed
	// writer leaves no parts of it.
	o := minio.PutObjectOptions{DisableMultipart: true, ContentType: "application/octet-stream"}
	if strings.HasSuffix(name, ".json") {
		o.ContentType = "application/json"
	}
	switch {
	case only.Absent:
		o.SetMatchETagExcept("*")
	case only.ETag != "":
		o.SetMatchETag(strings.Trim(only.ETag, `"`))
	}
	if _, err := l.client.PutObject(ctx, l.bucket, l.key(name), body, size, o); err != nil {
		err = explain(err)
		if errors.Is(err, fs.ErrNotExist) && only.ETag != "" {
			return objects.ErrCondition
		}
		return err
	}
	return nil
}

// Remove implements objects.Store.
func (l *Location) Remove(ctx context.Context, listed objects.Object) (bool, error) {
	now, err := l.Stat(ctx, listed.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !now.Modified.Truncate(time.Second).Equal(listed.Modified.Truncate(time.Second)):
		return false, nil
	}
	if err := l.client.RemoveObject(ctx, l.bucket, l.key(listed.Name), minio.RemoveObjectOptions{}); err != nil {
		return false, explain(err)
	}
	return true, nil
}
