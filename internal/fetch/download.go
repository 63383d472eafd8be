package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"hdqs/internal/objects"
)

// ErrPage marks a web page where data was expected: an error of a proxy, a login, a challenge.
var ErrPage = errors.New("an HTML or XML page instead of data")

// Download writes the file at an address to path. An existing file is replaced only by a complete
// and checked one.
func (c *Client) Download(ctx context.Context, q objects.Request, path string) (objects.Result, error) {
	return objects.Receive(path, func(part *objects.Part) (objects.Result, error) {
		d := &download{client: c, q: q, part: part}
		err := c.try(ctx, q.Name, d.attempt)
		return d.result, err
	})
}

type download struct {
	client *Client
	q      objects.Request
	part   *objects.Part
	result objects.Result
}

func (d *download) attempt(ctx context.Context, u *url.URL) *failure {
	header := http.Header{}
	want := []int{http.StatusOK}
	switch {
	case d.part.Written > 0 && d.part.Validator != "":
		header.Set("Range", fmt.Sprintf("bytes=%d-", d.part.Written))
		header.Set("If-Range", d.part.Validator)
		want = append(want, http.StatusPartialContent)
	case d.q.ETag != "":
		header.Set("If-None-Match", d.q.ETag)
		want = append(want, http.StatusNotModified)
	}
	response, f := d.client.request(ctx, u, header, want...)
	if f != nil {
		var status *StatusError
		if errors.As(f.err, &status) && status.Code == http.StatusRequestedRangeNotSatisfiable {
			return d.restart(f.err)
		}
		return f
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNotModified {
		d.result = objects.Result{NotModified: true, ETag: d.q.ETag}
		return nil
	}
	if response.StatusCode == http.StatusOK && d.part.Written > 0 {
		if f := d.restart(nil); f.err != nil {
			return f
		}
	} else if response.StatusCode == http.StatusPartialContent {
		got, want := response.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", d.part.Written)
		if !strings.HasPrefix(got, want) {
			return d.restart(fmt.Errorf("the server sent range %q, want %q", got, want))
		}
	}
	d.result.ETag = response.Header.Get("ETag")
	d.part.Begin(d.result.ETag)
	if err := d.copy(ctx, response); err != nil {
		if errors.Is(err, ErrPage) || errors.Is(err, objects.ErrTooLarge) {
			return &failure{err: errors.Join(err, d.restart(nil).err), final: errors.Is(err, objects.ErrTooLarge)}
		}
		return &failure{err: err}
	}
	return d.check()
}

// restart discards what was written, so that the next try begins at the first byte.
func (d *download) restart(why error) *failure {
	d.received(-d.part.Written)
	err := d.part.Restart()
	return &failure{err: errors.Join(why, err), final: err != nil}
}

// copy streams the body into the file and both digests, and enforces the size limit.
func (d *download) copy(ctx context.Context, response *http.Response) error {
	limit := d.client.options.MaxBytes
	if n := response.ContentLength; n >= 0 && d.part.Written+n > limit {
		return tooLarge(fmt.Sprintf("%d bytes announced", d.part.Written+n), limit)
	}
	buffer := make([]byte, 64<<10)
	for {
		n, err := response.Body.Read(buffer)
		if n > 0 {
			if d.part.Written == 0 && isPage(buffer[:n]) {
				return ErrPage
			}
			if d.part.Written+int64(n) > limit {
				return fmt.Errorf("%w: more than %d bytes", objects.ErrTooLarge, limit)
			}
			if _, err := d.part.Write(buffer[:n]); err != nil {
				return err
			}
			d.received(int64(n))
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("body cut after %d bytes: %w", d.part.Written, err)
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

func (d *download) received(n int64) {
	if d.q.Received != nil && n != 0 {
		d.q.Received(n)
	}
}

// check compares the complete file with the Request. On a mismatch the file is downloaded again: it
// may have been replaced during the download.
func (d *download) check() *failure {
	err := d.part.Check(d.q)
	if d.part.Written == 0 {
		err = fmt.Errorf("%w: empty body: 0 bytes, want data", objects.ErrMismatch)
	}
	if err == nil {
		return nil
	}
	return d.restart(err)
}

// isPage reports whether text begins like HTML or XML. No data file begins with "<".
func isPage(start []byte) bool {
	start = bytes.TrimPrefix(start, []byte("\xef\xbb\xbf"))
	return bytes.HasPrefix(bytes.TrimLeft(start, " \t\r\n"), []byte("<"))
}

// JSON decodes a response of at most limit bytes into v. Text that is not JSON is retried, since it
// may be an error page or cut; JSON that v does not accept is not.
func (c *Client) JSON(ctx context.Context, link string, limit int64, v any) error {
	header := http.Header{"Accept": {"application/json"}}
	return c.read(ctx, link, header, limit, func(_ *http.Response, data []byte) *failure {
		if err := json.Unmarshal(data, v); err != nil {
			var malformed *json.SyntaxError
			return &failure{err: fmt.Errorf("unexpected JSON: %w", err), final: !errors.As(err, &malformed)}
		}
		return nil
	})
}

// Read returns the file of at most limit bytes at an address and its ETag, or ErrNotModified if it
// has etag.
func (c *Client) Read(
	ctx context.Context, link, etag string, limit int64,
) (data []byte, version string, err error) {
	header := http.Header{}
	if etag != "" {
		header.Set("If-None-Match", etag)
	}
	err = c.read(ctx, link, header, limit, func(response *http.Response, body []byte) *failure {
		data, version = body, response.Header.Get("ETag")
		return nil
	})
	return data, version, err
}

// read calls use with a response and its body of at most limit bytes.
func (c *Client) read(
	ctx context.Context, link string, header http.Header, limit int64,
	use func(*http.Response, []byte) *failure,
) error {
	want := []int{http.StatusOK}
	if header.Get("If-None-Match") != "" {
		want = append(want, http.StatusNotModified)
	}
	return c.try(ctx, link, func(ctx context.Context, u *url.URL) *failure {
		response, f := c.request(ctx, u, header, want...)
		if f != nil {
			return f
		}
		if response.StatusCode == http.StatusNotModified {
			response.Body.Close()
			return &failure{err: objects.ErrNotModified, final: true}
		}
		data, f := c.readAll(response, limit)
		if f != nil {
			return f
		}
		return use(response, data)
	})
}

// readAll reads a body of at most limit bytes and closes it.
func (c *Client) readAll(response *http.Response, limit int64) ([]byte, *failure) {
	defer response.Body.Close()
	if response.ContentLength > limit {
		err := tooLarge(fmt.Sprintf("%d bytes announced", response.ContentLength), limit)
		return nil, &failure{err: err, final: true}
	}
	var data bytes.Buffer
	data.Grow(int(max(response.ContentLength, 0)) + bytes.MinRead) // so that it does not grow while it is read
	n, err := data.ReadFrom(io.LimitReader(response.Body, limit+1))
	switch {
	case err != nil:
		return nil, &failure{err: fmt.Errorf("body cut after %d bytes: %w", n, err)}
	case isPage(data.Bytes()):
		return nil, &failure{err: ErrPage}
	case n > limit:
		return nil, &failure{err: tooLarge(fmt.Sprintf("more than %d bytes", limit), limit), final: true}
	}
	return data.Bytes(), nil
}

// tooLarge is the error of a body of more than limit bytes.
func tooLarge(size string, limit int64) error {
	return fmt.Errorf("%w: %s, at most %d are allowed", objects.ErrTooLarge, size, limit)
}
