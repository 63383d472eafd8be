package bucket

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"hdqs/internal/objects"
)

// stall is how long a service may take to begin a response, and between two reads of its body.
const stall = 30 * time.Second

// Traffic implements objects.Store.
func (l *Location) Traffic() objects.Traffic {
	t := l.traffic
	return objects.Traffic{
		Requests: t.requests.Load(), Retries: l.Objects.Traffic().Retries,
		Sent: t.sent.Load(), Received: t.received.Load(),
	}
}

// traffic counts requests and bytes, and closes responses that have stalled.
type traffic struct {
	next                     http.RoundTripper
	stall                    time.Duration // longest wait for bytes of a response
	requests, sent, received atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (t *traffic) RoundTrip(r *http.Request) (*http.Response, error) {
	t.requests.Add(1)
	if r.Body != nil && r.Body != http.NoBody {
		counted := *r
		counted.Body = &countedBody{ReadCloser: r.Body, n: &t.sent}
		r = &counted
	}
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body := &countedBody{ReadCloser: response.Body, n: &t.received, stall: t.stall}
	body.alarm = time.AfterFunc(t.stall, func() { body.ReadCloser.Close() })
	body.alarm.Stop() // until the first read
	response.Body = body
	return response, nil
}

// countedBody counts the bytes that are read. With an alarm, a read that takes too long fails.
type countedBody struct {
	io.ReadCloser
	n     *atomic.Int64
	alarm *time.Timer
	stall time.Duration
}

// Read implements io.Reader.
func (b *countedBody) Read(p []byte) (int, error) {
	if b.alarm != nil {
		b.alarm.Reset(b.stall)
	}
	n, err := b.ReadCloser.Read(p)
	b.n.Add(int64(n))
	if b.alarm != nil {
		b.alarm.Stop() // the time between two reads does not count
	}
	return n, err
}

// Close closes the body.
func (b *countedBody) Close() error {
	if b.alarm != nil {
		b.alarm.Stop()
	}
	return b.ReadCloser.Close()
}
