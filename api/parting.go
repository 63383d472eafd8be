package api

import (
	"errors"
	"io"
	"net"
	"os"
	"time"
)

// Bounds of connections that end while their clients may still be sending.
const (
	partingAtOnce = 512     // connections that are read to their end; others are closed at once
	partingBytes  = 4 << 20 // that are read of one
)

// cutShort notes that a connection ends with a request that was not read whole, or whose end is in doubt.
func cutShort(c net.Conn) {
	if line, ok := c.(*lineConn); ok {
		line.short.Store(true)
	}
}

// part ends a connection in stages, and keeps its place until it is over: what is open counts. It does not wait, and says whether it will be done.
func (c *lineConn) part() bool {
	select {
	case c.all.parting <- struct{}{}:
	default:
		return false
	}
	go func() {
		seeOff(c.Conn, c.all.partingTime)
		_ = c.Conn.Close()
		c.all.leave(c)
		<-c.all.parting
	}()
	return true
}

// seeOff tells a client that no more will come, and reads and drops what it still sends, until it has left too or a bound is met (RFC 9112, 9.6). Where a
// connection is closed while bytes come it is reset, and then many clients fail in writing, or lose the answer that they have got.
func seeOff(c net.Conn, within time.Duration) {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	until := time.Now().Add(within)
	for left := int64(partingBytes); left > 0; {
		if c.SetReadDeadline(until) != nil {
			return
		}
		n, err := io.Copy(io.Discard, io.LimitReader(c, left))
		if left -= n; !errors.Is(err, os.ErrDeadlineExceeded) || !time.Now().Before(until) {
			return // else whoever ends all connections has woken it
		}
	}
}
