package api

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

// Bounds of connections that are turned away, and of the end.
const (
	turnedAwayAtOnce = 512                    // connections that get the time to read why
	turnAwayTime     = time.Second            // for a connection's request, for the answer, and for the leaving of any
	turnAwayWrite    = 100 * time.Millisecond // for the answers to others; a new connection has room for it

	lastAccept = 20 * time.Millisecond  // for which a listener takes who has come already
	lastWait   = 100 * time.Millisecond // for the next request of a connection
	leastPause = 5 * time.Millisecond   // between two looks at what is still open, or after a fault in accepting
	mostPause  = time.Second
)

// connections are those of the public listener: how many there may be, and how they end.
//
// The HTTP library has bounds of its own, but what it answers beyond them is text that no caller of ours knows, and is not counted. So they are counted
// here, and the library's bound is never met.
//
// The library ends connections that wait for a request by closing them, also when one has come that it has not read. With busy callers that is not seldom.
// So they end here too (end): each learns in its own goroutine that it is to be the last wait, which is short, and a request that comes is answered.
type connections struct {
	most, mostEach int // mostEach is 0 without a bound for an address
	refuse         func(ctx *fasthttp.RequestCtx, rule string)
	log            fasthttp.Logger

	mu        sync.Mutex
	listeners []*publicListener
	open      map[*lineConn]struct{}
	each      map[netip.Prefix]int // open ones of a client, where they are bounded

	ending  atomic.Bool
	wait    time.Duration // for the next request of a connection, once they end
	turning chan struct{} // a place for each that is being turned away
	shed    *shedCounts

	parting     chan struct{} // a place for each that ends in stages; see part
	partingTime time.Duration // for which it may
}

func newConnections(most, mostEach int, shed *shedCounts, refuse func(*fasthttp.RequestCtx, string), log fasthttp.Logger) *connections {
	return &connections{
		most: orInt(most, defaultConnections), mostEach: mostEach, shed: shed, refuse: refuse, log: log,
		open: map[*lineConn]struct{}{}, each: map[netip.Prefix]int{}, turning: make(chan struct{}, turnedAwayAtOnce), wait: lastWait,
		parting: make(chan struct{}, partingAtOnce), partingTime: turnAwayTime,
	}
}

// publicListener accepts the connections of the public listener.
type publicListener struct {
	net.Listener
	all    *connections
	flight *flight
	once   sync.Once
	gone   chan struct{} // closed with the listener
	closed error
}

func (n *connections) listener(l net.Listener, f *flight) *publicListener {
	return &publicListener{Listener: l, all: n, flight: f, gone: make(chan struct{})}
}

// Accept waits for the next connection that there is a place for. Near the end it takes those that have come, and closes the listener.
func (l *publicListener) Accept() (net.Conn, error) {
	for pause := leastPause; ; {
		c, err := l.Listener.Accept()
		switch {
		case err == nil:
		case l.all.ending.Load():
			_ = l.Close()
			return nil, io.EOF
		case isShortage(err):
			l.all.log.Printf("no descriptor or memory for a connection")
			time.Sleep(pause)
			pause = min(2*pause, mostPause)
			continue
		default:
			return nil, err
		}
		pause = leastPause
		line := &lineConn{Conn: c, all: l.all, flight: l.flight, waiting: true}
		if rule := l.all.enter(line); rule != "" {
			l.all.shed.add(rule)
			l.all.turnAway(c, rule)
			continue
		}
		return line, nil
	}
}

// Close closes the listener; more than once is no fault.
func (l *publicListener) Close() error {
	l.once.Do(func() {
		l.closed = l.Listener.Close()
		close(l.gone)
	})
	return l.closed
}

// isShortage tells a lack of descriptors or memory, which passes, from a listener that is broken.
func isShortage(err error) bool {
	for _, short := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, short) {
			return true
		}
	}
	return false
}

// add makes a listener one of those that end.
func (n *connections) add(l *publicListener) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listeners = append(n.listeners, l)
	if n.ending.Load() {
		l.end()
	}
}

// end lets Accept take for a moment those who have come, if the listener can be told so.
func (l *publicListener) end() {
	if socket, ok := l.Listener.(syscall.Conn); ok {
		_ = refuseMore(socket) // where that is not to be had, those who come when it closes are reset
	}
	timed, ok := l.Listener.(interface{ SetDeadline(time.Time) error })
	if !ok || timed.SetDeadline(time.Now().Add(lastAccept)) != nil {
		_ = l.Close()
	}
}

// enter gives a connection a place, which its Close gives back, or tells the bound that was met.
func (n *connections) enter(c *lineConn) (rule string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.open) >= n.most {
		return ruleConnections
	}
	if n.mostEach > 0 {
		if at, ok := c.RemoteAddr().(*net.TCPAddr); ok {
			c.client = clientOf(at.AddrPort().Addr())
		}
		if c.client.IsValid() {
			if n.each[c.client] >= n.mostEach {
				return ruleAddress
			}
			n.each[c.client]++
		}
	}
	n.open[c] = struct{}{}
	return ""
}

// leave gives a connection's place back, the first time.
func (n *connections) leave(c *lineConn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.open[c]; !ok {
		return
	}
	delete(n.open, c)
	if !c.client.IsValid() {
		return
	}
	if n.each[c.client]--; n.each[c.client] == 0 {
		delete(n.each, c.client)
	}
}

// clientOf is what counts as one client: an IPv4 address, or the 64 bits of an IPv6 address that name a network. Within it each host takes as many addresses
// as it likes (RFC 8981).
func clientOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // of an invalid address an invalid one
	return p
}

func (n *connections) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.open)
}

// turnAway answers a connection that there is no place for, and closes it. It does not wait: whoever accepts connections calls it.
func (n *connections) turnAway(c net.Conn, rule string) {
	select {
	case n.turning <- struct{}{}:
		go func() {
			n.turnAwayGently(c, rule)
			<-n.turning
		}()
	default:
		n.answerTurned(c, rule, false, turnAwayWrite)
		_ = c.Close()
	}
}

// turnAwayGently lets the client send its request and read the answer. A client that gets an answer before it asks may take it for a fault, and one whose
// connection is closed before its request was read may lose the answer.
func (n *connections) turnAwayGently(c net.Conn, rule string) {
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(turnAwayTime))
	request := make([]byte, firstRead)
	got, err := io.ReadAtLeast(c, request, len(headStart))
	var network net.Error
	if err != nil && (!errors.As(err, &network) || !network.Timeout()) {
		return // nobody is there to be answered
	}
	n.answerTurned(c, rule, string(request[:min(got, len(headStart))]) == headStart, turnAwayTime)
	seeOff(c, turnAwayTime)
}

// answerTurned writes the answer that a request would get for which there is no room.
func (n *connections) answerTurned(c net.Conn, rule string, head bool, within time.Duration) {
	var ctx fasthttp.RequestCtx
	n.refuse(&ctx, rule)
	ctx.Response.SkipBody = head
	ctx.SetConnectionClose()
	_ = c.SetWriteDeadline(time.Now().Add(within))
	w := bufio.NewWriter(c)
	if ctx.Response.Write(w) == nil {
		_ = w.Flush()
	}
}

// end lets all connections come to an end: no more are accepted, and those that wait for a request do so for a moment only. It returns when none is left,
// or when ctx ends.
func (n *connections) end(ctx context.Context) {
	n.ending.Store(true)
	n.mu.Lock()
	for _, l := range n.listeners {
		l.end()
	}
	for c := range n.open {
		_ = c.Conn.SetReadDeadline(time.Now()) // it sees in receive why it was woken
	}
	listeners := n.listeners
	n.mu.Unlock()
	for _, l := range listeners {
		select {
		case <-ctx.Done():
		case <-l.gone:
		}
	}
	for n.count()+len(n.turning) > 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(leastPause):
		}
	}
}
