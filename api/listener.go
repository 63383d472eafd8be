package api

import (
	"bytes"
	"net"
)

// lineListener accepts connections that know whether the line they are reading has ended.
type lineListener struct{ net.Listener }

// Accept waits for the next connection.
func (l lineListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &lineConn{Conn: c}, nil
}

// lineConn counts the bytes since the last line end. When a request does not fit into the read buffer, this tells a URI that alone is too
// long from header fields that are: the HTTP library forgets what it had read.
type lineConn struct {
	net.Conn
	open int
}

// Read reads and counts.
func (c *lineConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if i := bytes.LastIndexByte(p[:n], '\n'); i >= 0 {
		c.open = n - i - 1
	} else {
		c.open += n
	}
	return n, err
}

// inFirstLine says whether a full read buffer holds no line end.
func inFirstLine(c net.Conn) bool {
	line, ok := c.(*lineConn)
	return ok && line.open >= readBuffer
}
