package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"

	"github.com/minio/minio-go/v7"

	"hdqs/internal/fetch"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// web accesses a store by HTTP: a web server that serves a store's directory, or a public bucket.
type web struct {
	base   string
	client *fetch.Client
}

func (w *web) traffic() Traffic {
	c := w.client.Counts()
	return Traffic{Requests: c.Requests, Received: c.Bytes}
}

// webError maps an error of the client to those of objects.
func webError(err error) error {
	var status *fetch.StatusError
	var answer minio.ErrorResponse
	switch {
	case errors.As(err, &answer):
		return bucketError(err)
	case errors.As(err, &status) && (status.Code == http.StatusNotFound || status.Code == http.StatusGone):
		return fs.ErrNotExist
	case errors.Is(err, fetch.ErrMismatch) || errors.Is(err, fetch.ErrTooLarge):
		return fmt.Errorf("%w: %w", snapshot.ErrCorrupt, err)
	case errors.Is(err, fetch.ErrRefused) || errors.Is(err, fetch.ErrDisk):
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

func (w *web) read(ctx context.Context, name, etag string, limit int64) ([]byte, string, error) {
	data, result, err := w.client.Read(ctx, fetch.Request{URL: w.base + "/" + name, ETag: etag}, limit)
	switch {
	case err != nil:
		return nil, "", webError(err)
	case result.NotModified:
		return nil, etag, errNotModified
	}
	return data, result.ETag, nil
}

func (w *web) download(ctx context.Context, name string, ref store.SegmentRef, file *os.File) error {
	q := fetch.Request{URL: w.base + "/" + name, Size: ref.Bytes, SHA256: ref.SHA256}
	if _, err := w.client.DownloadTo(ctx, q, file); err != nil {
		return webError(err)
	}
	return nil
}

func (w *web) list(context.Context, string) ([]entry, error) { return nil, ErrReadOnly }

func (w *web) stat(context.Context, string) (entry, error) { return entry{}, ErrReadOnly }

func (w *web) put(context.Context, string, io.Reader, int64, condition) error { return ErrReadOnly }

func (w *web) remove(context.Context, string) error { return ErrReadOnly }
