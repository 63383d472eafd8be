package bucket

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// stall is the longest time that a service may take to begin an answer, and then between two bytes of it.
const stall = 30 * time.Second

// Counts are what went over the network: all requests, tries that failed included, and the bytes of bodies.
type Counts struct{ Requests, Sent, Received int64 }

// Counts tells what the location's client has done so far.
func (l *Location) Counts() Counts {
	t := l.traffic
	return Counts{Requests: t.requests.Load(), Sent: t.sent.Load(), Received: t.received.Load()}
}

// traffic counts requests and bytes, and ends answers that have come to a halt.
type traffic struct {
	next                     http.RoundTripper
	stall                    time.Duration // between two bytes of an answer
	requests, sent, received atomic.Int64
}

// RoundTrip sends one request.
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

// countedBody adds what is read to a count. With an alarm, a read that takes too long fails.
type countedBody struct {
	io.ReadCloser
	n     *atomic.Int64
	alarm *time.Timer
	stall time.Duration
}

// Read reads and counts.
func (b *countedBody) Read(p []byte) (int, error) {
	if b.alarm != nil {
		b.alarm.Reset(b.stall)
	}
	n, err := b.ReadCloser.Read(p)
	b.n.Add(int64(n))
	if b.alarm != nil {
		b.alarm.Stop() // only waiting for bytes counts, not what the reader does between two reads
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
