package fetch

import (
	"context"
	"net/url"

	"hdqs/internal/objects"
)

// Objects are the files below a web address as an objects.Store: a web server that serves a
// directory, or a public bucket.
type Objects struct {
	*Client
	objects.ReadOnly
	base string
}

// Below returns the files below an address, which has no slash at its end.
func (c *Client) Below(base string) *Objects { return &Objects{Client: c, base: base} }

func (o *Objects) link(name string) string {
	return o.base + (&url.URL{Path: "/" + name}).EscapedPath()
}

// Read implements objects.Store.
func (o *Objects) Read(ctx context.Context, name, etag string, limit int64) ([]byte, string, error) {
	return o.Client.Read(ctx, o.link(name), etag, limit)
}

// Download implements objects.Store.
func (o *Objects) Download(ctx context.Context, q objects.Request, path string) (objects.Result, error) {
	q.Name = o.link(q.Name)
	return o.Client.Download(ctx, q, path)
}
