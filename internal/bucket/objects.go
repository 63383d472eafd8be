package bucket

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"

	"hdqs/internal/fetch"
)

// URL is the address of an object below the prefix, which RoundTrip understands.
func (l *Location) URL(name string) string {
	return (&url.URL{Scheme: "s3", Host: l.Bucket, Path: "/" + l.Key(name)}).String()
}

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
	core := minio.Core{Client: l.Client} // makes one request where Client.GetObject makes two
	body, _, header, err := core.GetObject(r.Context(), l.Bucket, strings.TrimPrefix(r.URL.Path, "/"), o)
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
