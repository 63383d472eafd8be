package fetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// BlockedError says that a site refuses this program or its address, or asks it to come back later
// than a request may wait. It is a separate error, since what helps is not another request.
type BlockedError struct {
	Host  string
	After time.Duration // what the site asked to wait, 0 if it did not say
	err   error         // the answer
	all   bool          // it is about the program, not about one file
	again bool          // it was said before, and no request was sent
}

func (e *BlockedError) Error() string {
	if e.again {
		return fmt.Sprintf("not asked, since %s blocks requests: %v", e.Host, e.err)
	}
	wait := "wait"
	if e.After > 0 {
		wait = fmt.Sprintf("wait %s, as it asks (--longest-wait lets a load do so)", e.After)
	}
	return fmt.Sprintf("%v: the site blocks this address or this program, %s: %s; "+
		"say who you are and how to reach you with --user-agent; ask less often with --request-pause; "+
		"send requests from another address (HTTPS_PROXY); "+
		"or read another source, such as what 'hdqs mirror' writes elsewhere", e.err, e.Host, wait)
}

// Unwrap returns the answer's status as an error.
func (e *BlockedError) Unwrap() error { return e.err }

// IsBlocked reports whether a site has refused this program or its address.
func IsBlocked(err error) bool {
	_, ok := errors.AsType[*BlockedError](err)
	return ok
}

// NotAsked reports whether no request was sent, since the site had refused one before.
func NotAsked(err error) bool {
	blocked, ok := errors.AsType[*BlockedError](err)
	return ok && blocked.again
}

// blockedBy makes a failure a BlockedError if the answer, of which start is the beginning, says
// that this program is not welcome. A page with 403 may say so, or be about one file: servers of
// files have such pages too.
func (f *failure) blockedBy(response *http.Response, start []byte) {
	text, code := bytes.ToLower(start), response.StatusCode
	all := code == http.StatusNotAcceptable || code == http.StatusTooManyRequests ||
		code == http.StatusForbidden && bytes.Contains(text, []byte("bot activity"))
	isPage := bytes.Contains(text, []byte("<html")) || bytes.Contains(text, []byte("<!doctype html"))
	if all || code == http.StatusForbidden && isPage {
		f.err = &BlockedError{Host: response.Request.URL.Host, After: f.after, err: f.err, all: all}
	}
}

// visits is when requests may be sent to a host.
type visits struct {
	next    time.Time     // not before
	blocked *BlockedError // until next; asking again would prolong a block
}

// visit waits until a request may be sent to a host, or returns why none is.
func (c *Client) visit(ctx context.Context, host string) error {
	c.mu.Lock()
	v, now := c.visits[host], time.Now()
	if v.blocked != nil && now.Before(v.next) {
		c.mu.Unlock()
		again := *v.blocked
		again.again = true
		return &again
	}
	at := now
	if v.next.After(now) {
		at = v.next
	}
	c.visits[host] = visits{next: at.Add(c.options.Pause)}
	c.mu.Unlock()
	select {
	case <-time.After(time.Until(at)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// rest keeps all requests to a host waiting: those of other files would be refused as well.
func (c *Client) rest(host string, wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, until := c.visits[host], time.Now().Add(wait); until.After(v.next) {
		c.visits[host] = visits{next: until, blocked: v.blocked}
	}
}

// giveUp sends no more requests to a host that blocks them, for as long as it asks for or else for
// the longest wait. What a redirect led to is not the host that was asked.
func (c *Client) giveUp(u *url.URL, err error) {
	if b, ok := errors.AsType[*BlockedError](err); ok && b.all && b.Host == u.Host {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.visits[u.Host] = visits{next: time.Now().Add(cmp.Or(b.After, c.options.BackoffMax)), blocked: b}
	}
}
