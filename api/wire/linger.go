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
	maxLingering  = 512     // connections that linger at once; others are closed without
	maxLingerRead = 4 << 20 // bytes that are read of one
)

// linger closes the connection in stages, and counts it until it is over. It does not wait. It
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
// come, TCP resets it: many clients then fail in writing, or lose the answer that they have got.
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
