package wire

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// DefaultConnections is the default of Options.Connections.
const DefaultConnections = 65536

const (
	acceptGrace = 20 * time.Millisecond  // how long a closing listener accepts clients that have connected
	drainWait   = 100 * time.Millisecond // how long a draining connection waits for its next request
	minPause    = 5 * time.Millisecond   // between two checks for open connections, and after a failed accept
	maxPause    = time.Second
)

// Options are the limits on connections, and what happens at the limits.
type Options struct {
	// Connections is the maximum number of open connections. Zero is DefaultConnections.
	Connections int

	// PerClient is the maximum for one IPv4 address or IPv6 /64. Zero is no limit.
	PerClient int

	// ReadBuffer and MaxBody are the ReadBufferSize and MaxRequestBodySize of the fasthttp.Server.
	ReadBuffer, MaxBody int

	// Budget counts the memory of answers until they are written, Requests the read buffers in
	// which requests wait for their rest. Without Requests that has the default limit.
	Budget, Requests *Budget

	// Refuse writes the answer to a connection over a limit, and Count counts the connection, which
	// may be closed before it can be answered. rule is RuleConnections or RuleAddress.
	Refuse func(ctx *fasthttp.RequestCtx, rule string)
	Count  func(rule string)

	// Logger gets the errors of Accept.
	Logger fasthttp.Logger

	// DrainWait is how long a draining connection waits for its next request, LingerTime how long
	// one lingers. Zero is 100 milliseconds, and one second.
	DrainWait, LingerTime time.Duration
}

// The limits that a connection may exceed.
const (
	RuleConnections = "connections"
	RuleAddress     = "connections of one address"
	RuleRequests    = "requests that are not complete"
)

// Connections is the set of open connections of a server. It limits and drains them.
//
// fasthttp also has a limit, but sends a fixed text to connections over it and does not count
// them. Set its limit higher than this one, so that it is never reached.
//
// At shutdown fasthttp closes idle connections even if a request has arrived that it has not read,
// which is not rare with busy clients. So End drains connections instead: the goroutine of each
// connection waits for one more request, for a short time, and answers it if it comes.
type Connections struct {
	options Options

	mu        sync.Mutex
	listeners []*Listener
	open      map[*conn]struct{}
	perClient map[netip.Prefix]int // open connections, where they are limited

	draining  atomic.Bool
	refusing  chan struct{} // a slot for each connection that is being refused
	lingering chan struct{} // a slot for each connection that lingers
}

// NewConnections returns the connections of one server.
func NewConnections(o Options) *Connections {
	o.Connections = cmp.Or(o.Connections, DefaultConnections)
	o.DrainWait = cmp.Or(o.DrainWait, drainWait)
	o.LingerTime = cmp.Or(o.LingerTime, lingerTime)
	if o.Requests == nil {
		o.Requests = NewBudget(0)
	}
	return &Connections{
		options: o, open: map[*conn]struct{}{}, perClient: map[netip.Prefix]int{},
		refusing: make(chan struct{}, maxRefusing), lingering: make(chan struct{}, maxLingering),
	}
}

// maxRequest returns the maximum number of bytes that are read for one request: the longest header,
// and a body in which each byte is a separate chunk, with as many size digits as fasthttp accepts
// and room for an extension.
func (n *Connections) maxRequest() int { return n.options.ReadBuffer + 32*n.options.MaxBody }

// Waiting returns the bytes of the read buffers in which requests wait for their rest.
func (n *Connections) Waiting() int64 { return n.options.Requests.Bytes() }

// Wrap returns the connection with what fasthttp lacks (see conn). It is counted once it is
// admitted.
func (n *Connections) Wrap(c net.Conn) net.Conn { return n.wrap(c) }

func (n *Connections) wrap(c net.Conn) *conn {
	return &conn{Conn: c, all: n, lease: lease{budget: n.options.Budget}, idle: true}
}

// admit counts a connection until it is removed, or returns the rule that it would violate.
func (n *Connections) admit(c *conn) (rule string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.open) >= n.options.Connections {
		return RuleConnections
	}
	if n.options.PerClient > 0 {
		if at, ok := c.RemoteAddr().(*net.TCPAddr); ok {
			c.client = clientOf(at.AddrPort().Addr())
		}
		if c.client.IsValid() {
			if n.perClient[c.client] >= n.options.PerClient {
				return RuleAddress
			}
			n.perClient[c.client]++
		}
	}
	n.open[c] = struct{}{}
	return ""
}

// remove stops counting a connection. Only the first call has an effect.
func (n *Connections) remove(c *conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.open[c]; !ok {
		return
	}
	delete(n.open, c)
	if !c.client.IsValid() {
		return
	}
	if n.perClient[c.client]--; n.perClient[c.client] == 0 {
		delete(n.perClient, c.client)
	}
}

// clientOf returns what counts as one client: an IPv4 address, or the 64 bits of an IPv6 address
// that identify a network. Within a network each host may use any number of addresses (RFC 8981).
func clientOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // invalid for an invalid address
	return p
}

// Count returns the number of open connections.
func (n *Connections) Count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.open)
}

// Draining reports whether End was called.
func (n *Connections) Draining() bool { return n.draining.Load() }

// End drains all connections: no more are accepted, and those that wait for a request wait for a
// short time only. It returns when no connection is left, or when ctx ends.
func (n *Connections) End(ctx context.Context) {
	n.draining.Store(true)
	n.mu.Lock()
	for _, l := range n.listeners {
		l.drain()
	}
	for c := range n.open {
		_ = c.Conn.SetReadDeadline(time.Now()) // wakes receive, which then checks draining
	}
	listeners := n.listeners
	n.mu.Unlock()
	for _, l := range listeners {
		select {
		case <-ctx.Done():
		case <-l.closed:
		}
	}
	for n.Count()+len(n.refusing) > 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(minPause):
		}
	}
}
