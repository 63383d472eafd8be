package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"time"
)

const (
	lingerTime    = time.Second
	maxLingering  = 512     // connections that may linger at once; others are closed immediately
	maxLingerRead = 4 << 20 // bytes that are read from one
)

// linger starts a lingering close, and counts the connection until it ends. It does not wait. It
// reports false if too many connections linger.
func (c *conn) linger() bool {
	select {
	case c.all.lingering <- struct{}{}:
	default:
		return false
	}
	go func() {
		linger(c.Conn, c.all.options.LingerTime)
		_ = c.Conn.Close()
		c.all.remove(c)
		<-c.all.lingering
	}()
	return true
}

// linger half-closes a connection, and reads and drops what its client still sends, until the
// client closes too or a limit is reached (RFC 9112, 9.6). If a connection is closed while bytes
// still arrive, TCP resets it: many clients then fail to write, or lose the answer that they have
// received.
func linger(c net.Conn, within time.Duration) {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	until := time.Now().Add(within)
	for left := int64(maxLingerRead); left > 0; {
		if c.SetReadDeadline(until) != nil {
			return
		}
		n, err := io.Copy(io.Discard, io.LimitReader(c, left))
		if left -= n; !errors.Is(err, os.ErrDeadlineExceeded) || !time.Now().Before(until) {
			return
		} // otherwise Connections.End has woken it
	}
}
