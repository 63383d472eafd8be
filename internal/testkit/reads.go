package testkit

import (
	"net"
	"sync/atomic"
)

// CountReads wraps a listener and adds the bytes that are read from its TCP connections to read.
func CountReads(l net.Listener, read *atomic.Int64) net.Listener { return countedListener{l, read} }

type countedListener struct {
	net.Listener
	read *atomic.Int64
}

type countedConn struct {
	net.Conn
	read *atomic.Int64
}

func (l countedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countedConn{c, l.read}, nil
}

// CloseWrite is that of the TCP connection, which lingering close needs.
func (c countedConn) CloseWrite() error { return c.Conn.(*net.TCPConn).CloseWrite() }

// Read counts what it reads.
func (c countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}
