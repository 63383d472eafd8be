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
	"os"
	"strings"
	"time"
)

// Request describes one file. The fields that are set are checked.
type Request struct {
	URL    string
	Size   int64  // bytes of the stored file
	SHA256 string // hex
	MD5    string // hex
	ETag   string // of the copy that the caller has; if it is current, the Result is NotModified

	// Part, if set, is the file that a download is written to until it is complete. A download that
	// was interrupted resumes where it ended, if the server still has the same file. Without Part
	// the next download begins at the first byte.
	Part string
	// Received, if set, is called with the number of bytes as they arrive. A negative number takes
	// back bytes that will be downloaded again.
	Received func(n int64)
}

// Result describes a download.
type Result struct {
	NotModified bool
	ETag        string
	Bytes       int64
	SHA256      string
}

// ErrPage marks a web page where data was expected: an error of a proxy, a login, a challenge.
var ErrPage = errors.New("an HTML or XML page instead of data")

// ErrMismatch marks a complete file that differs from its Request in size or digest.
var ErrMismatch = errors.New("not the file that was asked for")

// Download writes the file to path. An existing file is replaced only by a complete and checked
// one.
func (c *Client) Download(ctx context.Context, q Request, path string) (Result, error) {
	file, address := q.Part, q.URL
	if file == "" {
		file, address = path+".part", ""
	}
	part, err := OpenPart(file, address, c.options.MaxBytes, q.Size)
	if err != nil {
		return Result{}, fmt.Errorf("fetch %s: %w", q.URL, err)
	}
	defer part.Close()
	d := &download{client: c, q: q, part: part}
	d.received(part.Written)
	result, err := c.run(ctx, d)
	switch {
	case err != nil:
		return result, errors.Join(err, part.Abort(err))
	case result.NotModified:
		return result, part.Discard()
	}
	if err := part.Commit(path); err != nil {
		return Result{}, fmt.Errorf("fetch %s: %w", q.URL, err)
	}
	return result, nil
}

// DownloadTo writes to an open, empty file. Its content is complete and checked only if the error
// is nil.
func (c *Client) DownloadTo(ctx context.Context, q Request, file *os.File) (Result, error) {
	return c.run(ctx, &download{client: c, q: q, part: NewPart(file)})
}

func (c *Client) run(ctx context.Context, d *download) (Result, error) {
	if err := c.try(ctx, d.q.URL, d.attempt); err != nil {
		return Result{}, err
	}
	if !d.result.NotModified {
		d.result.Bytes, d.result.SHA256 = d.part.Written, d.part.SHA256()
	}
	return d.result, nil
}

type download struct {
	client *Client
	q      Request
	part   *Part
	result Result
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
		d.result = Result{NotModified: true, ETag: d.q.ETag}
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
	if err := d.part.Begin(d.result.ETag); err != nil {
		return &failure{err: err, final: true}
	}
	if err := d.copy(ctx, response); err != nil {
		if errors.Is(err, ErrPage) || errors.Is(err, ErrTooLarge) {
			return &failure{err: errors.Join(err, d.restart(nil).err), final: errors.Is(err, ErrTooLarge)}
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

// ErrTooLarge marks a body over its size limit.
var ErrTooLarge = errors.New("body over the size limit")

// copy streams the body into the file and both digests, and enforces the size limit.
func (d *download) copy(ctx context.Context, response *http.Response) error {
	limit := d.client.options.MaxBytes
	if n := response.ContentLength; n >= 0 && d.part.Written+n > limit {
		return fmt.Errorf("%w: %d bytes announced, at most %d are allowed", ErrTooLarge, d.part.Written+n, limit)
	}
	body := newStallReader(response.Body, d.client.options)
	defer body.stop()
	buffer := make([]byte, 64<<10)
	for {
		n, err := body.Read(buffer)
		if n > 0 {
			if d.part.Written == 0 && isPage(buffer[:n]) {
				return ErrPage
			}
			if d.part.Written+int64(n) > limit {
				return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
			}
			if _, err := d.part.Write(buffer[:n]); err != nil {
				return err
			}
			d.client.bytes.Add(int64(n))
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
	sha, sum := d.part.SHA256(), d.part.MD5()
	var err error
	switch {
	case d.part.Written == 0:
		err = errors.New("empty body: 0 bytes, want data")
	case d.q.Size > 0 && d.part.Written != d.q.Size:
		err = fmt.Errorf("%d bytes, the catalog says %d", d.part.Written, d.q.Size)
	case d.q.SHA256 != "" && !strings.EqualFold(sha, d.q.SHA256):
		err = fmt.Errorf("SHA-256 %s, the catalog says %s", sha, d.q.SHA256)
	case d.q.MD5 != "" && !strings.EqualFold(sum, d.q.MD5):
		err = fmt.Errorf("MD5 %s, the catalog says %s", sum, d.q.MD5)
	default:
		return nil
	}
	return d.restart(fmt.Errorf("%w: %w", ErrMismatch, err))
}

// isPage reports whether text begins like HTML or XML. No data file begins with "<".
func isPage(start []byte) bool {
	start = bytes.TrimPrefix(start, []byte("\xef\xbb\xbf"))
	return bytes.HasPrefix(bytes.TrimLeft(start, " \t\r\n"), []byte("<"))
}

// JSON decodes a response of at most limit bytes into v. Text that is not JSON is retried, since it
// may be an error page or cut; JSON that v does not accept is not.
func (c *Client) JSON(ctx context.Context, link string, limit int64, v any) error {
	return c.try(ctx, link, func(ctx context.Context, u *url.URL) *failure {
		response, f := c.request(ctx, u, http.Header{"Accept": {"application/json"}}, http.StatusOK)
		if f != nil {
			return f
		}
		data, f := c.readAll(response, limit)
		if f != nil {
			return f
		}
		if err := json.Unmarshal(data, v); err != nil {
			var malformed *json.SyntaxError
			return &failure{err: fmt.Errorf("unexpected JSON: %w", err), final: !errors.As(err, &malformed)}
		}
		return nil
	})
}

// Read returns a file of at most limit bytes. Of a Request it uses the URL and the ETag only.
func (c *Client) Read(ctx context.Context, q Request, limit int64) (data []byte, result Result, err error) {
	err = c.try(ctx, q.URL, func(ctx context.Context, u *url.URL) *failure {
		header, want := http.Header{}, []int{http.StatusOK}
		if q.ETag != "" {
			header.Set("If-None-Match", q.ETag)
			want = append(want, http.StatusNotModified)
		}
		response, f := c.request(ctx, u, header, want...)
		if f != nil {
			return f
		}
		if response.StatusCode == http.StatusNotModified {
			response.Body.Close()
			result = Result{NotModified: true, ETag: q.ETag}
			return nil
		}
		result.ETag = response.Header.Get("ETag")
		data, f = c.readAll(response, limit)
		result.Bytes = int64(len(data))
		return f
	})
	return data, result, err
}

// readAll reads a body of at most limit bytes and closes it.
func (c *Client) readAll(response *http.Response, limit int64) ([]byte, *failure) {
	defer response.Body.Close()
	if response.ContentLength > limit {
		err := tooLarge(fmt.Sprintf("%d bytes announced", response.ContentLength), limit)
		return nil, &failure{err: err, final: true}
	}
	body := newStallReader(response.Body, c.options)
	defer body.stop()
	var data bytes.Buffer
	data.Grow(int(max(response.ContentLength, 0)) + bytes.MinRead) // so that it does not grow while it is read
	n, err := data.ReadFrom(io.LimitReader(body, limit+1))
	c.bytes.Add(n)
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
	return fmt.Errorf("%w: %s, at most %d are allowed", ErrTooLarge, size, limit)
}

// stallReader closes a body that delivers fewer than need bytes within limit, which fails the
// pending read.
type stallReader struct {
	body  io.ReadCloser
	timer *time.Timer
	limit time.Duration
	need  int64 // bytes that restart the timer
	got   int64 // bytes since the timer was restarted
}

func newStallReader(body io.ReadCloser, o Options) *stallReader {
	need := max(1, int64(o.Stall.Seconds()*float64(o.MinRate)))
	return &stallReader{body: body, limit: o.Stall, need: need, timer: time.AfterFunc(o.Stall, func() { body.Close() })}
}

func (r *stallReader) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	if r.got += int64(n); r.got >= r.need {
		r.got = 0
		r.timer.Reset(r.limit)
	}
	return n, err
}

func (r *stallReader) stop() { r.timer.Stop() }
