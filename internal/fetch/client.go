package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"hdqs/internal/objects"
)

// Options of a Client; zero values are the defaults.
type Options struct {
	UserAgent    string        // default "hdqs"
	AllowHTTP    bool          // http beside https
	AllowPrivate bool          // addresses of private networks and of this machine, for tests and closed networks
	Hosts        []string      // allowed hosts, exact or ".suffix"; empty: any public host
	MaxBytes     int64         // size limit of one body, default 2 GiB
	Parallel     int           // requests at once, default 2
	Tries        int           // per file, default 5
	BackoffMin   time.Duration // before the second try, doubled for each further one; default 1 s
	BackoffMax   time.Duration // default 60 s; a longer Retry-After ends the tries
	Pause        time.Duration // least time between the beginnings of two requests to a host
	Stall        time.Duration // longest time without a byte, default 60 s; see MinRate
	MinRate      int64         // bytes a second over each Stall, default MinRate; slower bodies are retried
	// Proxy finds the proxy of a request; nil: HTTPS_PROXY, HTTP_PROXY and NO_PROXY do.
	Proxy func(*http.Request) (*url.URL, error)
	Total time.Duration // for one file: all tries and the waits between them, default 1 h
	// Transport, if set, answers all requests, whatever their scheme and host.
	Transport http.RoundTripper
}

// FinalError marks an error of a Transport that is not retried.
type FinalError struct{ error }

// Unwrap returns the error.
func (e *FinalError) Unwrap() error { return e.error }

// Final marks an error of a Transport, so that the request is not retried.
func Final(err error) error { return &FinalError{err} }

// MinRate is the default of Options.MinRate.
const MinRate = 256

const maxRedirects = 5

// Client downloads files. Goroutines may share it.
type Client struct {
	options  Options
	http     *http.Client
	slots    chan struct{}
	requests atomic.Int64
	retries  atomic.Int64
	meter    *Meter
	proxies  sync.Map // addresses of proxies, which were chosen here and may be private

	mu     sync.Mutex
	visits map[string]visits // by host
}

// Traffic returns the traffic so far.
func (c *Client) Traffic() objects.Traffic {
	t := c.meter.Traffic()
	t.Requests, t.Retries = c.requests.Load(), c.retries.Load()
	return t
}

// New returns a Client.
func New(o Options) *Client {
	o.UserAgent = cmp.Or(o.UserAgent, "hdqs")
	o.MaxBytes = cmp.Or(o.MaxBytes, 2<<30)
	o.Parallel = cmp.Or(o.Parallel, 2)
	o.Tries = cmp.Or(o.Tries, 5)
	o.BackoffMin = cmp.Or(o.BackoffMin, time.Second)
	o.BackoffMax = cmp.Or(o.BackoffMax, time.Minute)
	o.Stall = cmp.Or(o.Stall, time.Minute)
	o.MinRate = cmp.Or(o.MinRate, MinRate)
	o.Total = cmp.Or(o.Total, time.Hour)
	c := &Client{
		options: o, slots: make(chan struct{}, o.Parallel), visits: map[string]visits{},
		meter: &Meter{Stall: o.Stall, MinRate: o.MinRate},
	}
	if o.Proxy == nil {
		o.Proxy = http.ProxyFromEnvironment
	}
	plain := &net.Dialer{Timeout: 15 * time.Second}
	dialer := &net.Dialer{Timeout: 15 * time.Second, Control: c.checkConnection}
	c.meter.Next = &http.Transport{
		Proxy: func(r *http.Request) (*url.URL, error) {
			u, err := o.Proxy(r)
			if u != nil {
				ports := map[string]string{"https": "443", "socks5": "1080", "socks5h": "1080"}
				c.proxies.Store(net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), ports[u.Scheme], "80")), true)
			}
			return u, err
		},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if _, ok := c.proxies.Load(address); ok {
				return plain.DialContext(ctx, network, address)
			}
			return dialer.DialContext(ctx, network, address)
		},
		TLSHandshakeTimeout:    15 * time.Second,
		ResponseHeaderTimeout:  o.Stall,
		MaxResponseHeaderBytes: 1 << 16,
		DisableCompression:     true, // sizes and digests are those of the stored file
		ForceAttemptHTTP2:      true,
	}
	c.http = &http.Client{Transport: c.meter, CheckRedirect: c.checkRedirect}
	if o.Transport != nil {
		c.http.Transport = o.Transport
	}
	return c
}

func (c *Client) checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return refusedf("%s: more than %d redirects", via[0].URL.Redacted(), maxRedirects)
	}
	return c.checkURL(r.URL)
}

// failure is the error of one try. A final one is not retried. after is the time that the server
// asks to wait.
type failure struct {
	err   error
	final bool
	after time.Duration
}

// try calls attempt until it succeeds, fails for good, or runs out of tries or time.
func (c *Client) try(ctx context.Context, link string, attempt func(ctx context.Context, u *url.URL) *failure) error {
	u, err := url.Parse(link)
	if err != nil {
		return refusedf("%q: %v", link, err)
	}
	if err := c.checkURL(u); err != nil {
		return err
	}
	left := c.options.Total // waiting for a slot or a pause is not counted
	backoff := c.options.BackoffMin
	for n := 1; ; n++ {
		// A slot is held during one try only, so a file that waits for its next try does not block
		// others.
		select {
		case c.slots <- struct{}{}:
		case <-ctx.Done():
			return fmt.Errorf("fetch %s: %w", u.Redacted(), ctx.Err())
		}
		if err := c.visit(ctx, u.Host); err != nil {
			<-c.slots
			return fmt.Errorf("fetch %s: %w", u.Redacted(), err)
		}
		began := time.Now()
		f := c.attempt(ctx, left, u, attempt)
		left -= time.Since(began)
		switch {
		case f == nil:
			return nil
		case ctx.Err() != nil:
			return cancelled(ctx, u, f)
		case f.final || errors.Is(f.err, ErrRefused) || errors.Is(f.err, objects.ErrDisk),
			n == c.options.Tries:
			c.giveUp(u, f.err)
			return fmt.Errorf("fetch %s (try %d of %d): %w", u.Redacted(), n, c.options.Tries, f.err)
		case f.after > c.options.BackoffMax:
			c.giveUp(u, f.err)
			return fmt.Errorf("fetch %s: asked to wait %s, longer than the allowed %s: %w",
				u.Redacted(), f.after, c.options.BackoffMax, f.err)
		}
		wait := max(f.after, backoff/2+rand.N(backoff/2+1))
		backoff = min(2*backoff, c.options.BackoffMax)
		if left -= wait; left <= 0 {
			c.giveUp(u, f.err)
			return fmt.Errorf("fetch %s (try %d of %d): the time limit of %s for one file is used up: %w",
				u.Redacted(), n, c.options.Tries, c.options.Total, f.err)
		}
		c.retries.Add(1)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return cancelled(ctx, u, f)
		}
	}
}

// cancelled is the error of a try during or after which ctx ended: callers look for its cause.
func cancelled(ctx context.Context, u *url.URL, f *failure) error {
	return fmt.Errorf("fetch %s: %w, after: %w", u.Redacted(), context.Cause(ctx), f.err)
}

// attempt makes one try and releases the slot, after it has noted how long the host asks to wait.
func (c *Client) attempt(
	ctx context.Context, limit time.Duration, u *url.URL, attempt func(context.Context, *url.URL) *failure,
) *failure {
	defer func() { <-c.slots }()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c.requests.Add(1)
	f := attempt(ctx, u)
	if f != nil && f.after <= c.options.BackoffMax {
		c.rest(u.Host, f.after)
	}
	return f
}

// request sends one GET and follows redirects. A status that is not in want is a failure.
func (c *Client) request(
	ctx context.Context, u *url.URL, header http.Header, want ...int,
) (*http.Response, *failure) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, &failure{err: err, final: true}
	}
	for name, values := range header {
		r.Header[name] = values
	}
	r.Header.Set("User-Agent", c.options.UserAgent)
	response, err := c.http.Do(r)
	if err != nil {
		var final *FinalError
		return nil, &failure{err: stripURL(err), final: errors.As(err, &final)}
	}
	if slices.Contains(want, response.StatusCode) {
		return response, nil
	}
	start, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	response.Body.Close()
	f := statusFailure(response, u)
	f.blockedBy(response, start)
	return nil, f
}

// stripURL drops the address that net/http puts into its errors: after a redirect it is a signed
// link, which must not be logged.
func stripURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// StatusError is a response with an unexpected status.
type StatusError struct{ Code int }

func (e *StatusError) Error() string {
	return fmt.Sprintf("status %d %s", e.Code, http.StatusText(e.Code))
}

// Is reports whether the status says that there is no such file, which is fs.ErrNotExist.
func (e *StatusError) Is(target error) bool {
	return target == fs.ErrNotExist && (e.Code == http.StatusNotFound || e.Code == http.StatusGone)
}

// temporary are the client errors that another try may cure.
var temporary = []int{
	http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusRequestedRangeNotSatisfiable,
}

func statusFailure(response *http.Response, asked *url.URL) *failure {
	f := &failure{
		err:   &StatusError{response.StatusCode},
		after: retryAfter(response.Header.Get("Retry-After"), time.Now()),
	}
	switch code := response.StatusCode; {
	case code == http.StatusForbidden && response.Request.URL.String() != asked.String():
		// The link that the redirect led to has expired. The next try gets a new one.
	case slices.Contains(temporary, code):
	case code >= 400 && code < 500:
		f.final = true
	}
	return f
}

// retryAfter parses both forms of the header, RFC 9110 section 10.2.3. It returns 0 when the header
// is absent or malformed.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil && seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}
