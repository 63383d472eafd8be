package fetch

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"hdqs/internal/objects"
)

// Meter is a http.RoundTripper that counts requests and bytes of bodies, and closes responses that
// are slower than MinRate, which fails the pending read.
type Meter struct {
	Next    http.RoundTripper
	Stall   time.Duration // longest wait for bytes of a response
	MinRate int64         // bytes a second over each Stall

	requests, sent, received atomic.Int64
}

// Traffic returns the traffic so far.
func (m *Meter) Traffic() objects.Traffic {
	return objects.Traffic{Requests: m.requests.Load(), Sent: m.sent.Load(), Received: m.received.Load()}
}

// RoundTrip implements http.RoundTripper.
func (m *Meter) RoundTrip(r *http.Request) (*http.Response, error) {
	m.requests.Add(1)
	if r.Body != nil && r.Body != http.NoBody {
		counted := *r
		counted.Body = &countedBody{ReadCloser: r.Body, n: &m.sent}
		r = &counted
	}
	response, err := m.Next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body := &timedBody{countedBody: countedBody{response.Body, &m.received}, limit: m.Stall, left: m.Stall}
	body.need = max(1, int64(m.Stall.Seconds()*float64(m.MinRate)))
	body.alarm = time.AfterFunc(m.Stall, func() { body.ReadCloser.Close() })
	body.alarm.Stop() // until the first read
	response.Body = body
	return response, nil
}

// countedBody counts the bytes that are read.
type countedBody struct {
	io.ReadCloser
	n *atomic.Int64
}

// Read implements io.Reader.
func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n.Add(int64(n))
	return n, err
}

// timedBody is a body that must deliver need bytes within limit. The time between two reads does
// not count.
type timedBody struct {
	countedBody
	alarm       *time.Timer
	limit, left time.Duration
	need, got   int64
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	began := time.Now()
	b.alarm.Reset(b.left)
	n, err := b.countedBody.Read(p)
	b.alarm.Stop()
	b.left -= time.Since(began)
	if b.got += int64(n); b.got >= b.need {
		b.got, b.left = 0, b.limit
	}
	return n, err
}
