package wire

import (
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

// Listener accepts connections within the limits of its Connections.
type Listener struct {
	net.Listener
	all    *Connections
	once   sync.Once
	closed chan struct{} // closed with the listener
	err    error         // of closing
}

// Inherited is a listener whose socket stays open in another process, such as systemd. Connections
// that it has not accepted wait in the socket for the next process, so they are neither awaited at
// the end nor rejected.
type Inherited struct{ net.Listener }

// Listen returns a listener that accepts within the limits of n. End closes it.
func (n *Connections) Listen(l net.Listener) *Listener {
	own := &Listener{Listener: l, all: n, closed: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listeners = append(n.listeners, own)
	if n.draining.Load() {
		own.drain()
	}
	return own
}

// Accept returns the next connection within the limits, and refuses others. While connections drain
// it accepts those that have already connected, unless the socket is inherited, and then closes the
// listener.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := Patient{l.Listener, l.all.options.Logger}.Accept()
		switch {
		case err == nil:
		case l.all.draining.Load():
			_ = l.Close()
			return nil, io.EOF
		default:
			return nil, err
		}
		own := l.all.wrap(c)
		if rule := l.all.admit(own); rule != "" {
			l.all.options.Count(rule)
			l.all.refuse(c, rule)
			continue
		}
		return own, nil
	}
}

// Patient is a listener that waits while descriptors or memory are short. fasthttp would end the
// server, since it takes any other error than a timeout as the end of the listener.
type Patient struct {
	net.Listener
	Logger fasthttp.Logger
}

// Accept returns the next connection.
func (p Patient) Accept() (net.Conn, error) {
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		c, err := p.Listener.Accept()
		if !isShortage(err) {
			return c, err
		}
		p.Logger.Printf("no descriptor or memory for a connection")
		time.Sleep(pause)
	}
}

// Close closes the listener. Further calls do nothing.
func (l *Listener) Close() error {
	l.once.Do(func() {
		l.err = l.Listener.Close()
		close(l.closed)
	})
	return l.err
}

// isShortage distinguishes a temporary shortage of descriptors or memory from a broken listener.
func isShortage(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOBUFS) ||
		errors.Is(err, syscall.ENOMEM)
}

// drain makes Accept return after a short time, or closes the listener where that is not possible.
func (l *Listener) drain() {
	socket, grace := l.Listener, acceptGrace
	if inherited, ok := socket.(Inherited); ok {
		socket, grace = inherited.Listener, 0
	} else if socket, ok := socket.(syscall.Conn); ok {
		_ = rejectNew(socket) // without it, clients that connect as the listener closes are reset
	}
	timed, ok := socket.(interface{ SetDeadline(time.Time) error })
	if !ok || timed.SetDeadline(time.Now().Add(grace)) != nil {
		_ = l.Close()
	}
}
