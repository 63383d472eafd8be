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

// DefaultConnections is the limit of connections when Options do not have one.
const DefaultConnections = 65536

const (
	acceptGrace = 20 * time.Millisecond  // for which a closing listener accepts those that have connected
	drainWait   = 100 * time.Millisecond // for the next request of a connection that drains
	minPause    = 5 * time.Millisecond   // between two looks at what is still open, or after a failed accept
	maxPause    = time.Second
)

// Options are the limits of connections, and what to do at them.
type Options struct {
	// Connections is the most connections at once. Zero is DefaultConnections.
	Connections int

	// PerClient is the most connections of one IPv4 address or IPv6 /64. Zero is no limit.
	PerClient int

	// ReadBuffer and MaxBody are the ReadBufferSize and MaxRequestBodySize of the fasthttp.Server.
	ReadBuffer, MaxBody int

	// Budget counts what answers hold until they are written.
	Budget *Budget

	// Refuse writes the answer to a connection beyond a limit, and Count counts the connection,
	// which may end before it can be answered. rule is RuleConnections or RuleAddress.
	Refuse func(ctx *fasthttp.RequestCtx, rule string)
	Count  func(rule string)

	// Logger gets what fails in accepting.
	Logger fasthttp.Logger

	// DrainWait is how long a draining connection waits for its next request, LingerTime how long
	// one lingers. Zero is 100 milliseconds, and one second.
	DrainWait, LingerTime time.Duration
}

// The limits that a refused connection is beyond.
const (
	RuleConnections = "connections"
	RuleAddress     = "connections of one address"
)

// Connections are the open connections of a server: how many there may be, and how they end.
//
// fasthttp has limits of its own, but answers beyond them with a fixed text, which is not counted.
// So set its limit higher than this one, so that it is never reached.
//
// fasthttp ends idle connections by closing them, also when a request has come that it has not
// read. With busy clients that is not rare. So they end here instead (End): each learns in its own
// goroutine that its next wait is the last and short, and a request that comes is answered.
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

// NewConnections makes the connections of one server.
func NewConnections(o Options) *Connections {
	o.Connections = cmp.Or(o.Connections, DefaultConnections)
	o.DrainWait = cmp.Or(o.DrainWait, drainWait)
	o.LingerTime = cmp.Or(o.LingerTime, lingerTime)
	return &Connections{
		options: o, open: map[*conn]struct{}{}, perClient: map[netip.Prefix]int{},
		refusing: make(chan struct{}, maxRefusing), lingering: make(chan struct{}, maxLingering),
	}
}

// maxRequest is the most bytes that are read of one request: the longest header, and a body of
// which each byte is a chunk of its own, with a size of as many digits as fasthttp reads and room
// for an extension.
func (n *Connections) maxRequest() int { return n.options.ReadBuffer + 32*n.options.MaxBody }

// Wrap returns the connection with what fasthttp lacks (see conn). It counts once it is admitted.
func (n *Connections) Wrap(c net.Conn) net.Conn { return n.wrap(c) }

func (n *Connections) wrap(c net.Conn) *conn {
	return &conn{Conn: c, all: n, lease: lease{budget: n.options.Budget}, idle: true}
}

// admit counts a connection until it is removed, or returns the rule that it would break.
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

// remove ends the counting of a connection. Only the first call has an effect.
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

// clientOf is what counts as one client: an IPv4 address, or the 64 bits of an IPv6 address that
// name a network. Within a network each host may use as many addresses as it likes (RFC 8981).
func clientOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // invalid for an invalid address
	return p
}

// Count is the number of open connections.
func (n *Connections) Count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.open)
}

// Lingering is the number of open connections that linger.
func (n *Connections) Lingering() int { return len(n.lingering) }

// Draining reports whether End was called.
func (n *Connections) Draining() bool { return n.draining.Load() }

// End drains all connections: none is accepted any more, and those that wait for a request do so
// for a short time only. It returns when no connection is left, or when ctx ends.
func (n *Connections) End(ctx context.Context) {
	n.draining.Store(true)
	n.mu.Lock()
	for _, l := range n.listeners {
		l.drain()
	}
	for c := range n.open {
		_ = c.Conn.SetReadDeadline(time.Now()) // wakes receive, which looks at draining
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
