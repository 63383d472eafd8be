package wire

import (
	"bufio"
	"errors"
	"io"
	"net"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	maxRefusing     = 512                    // refused connections that may linger to receive their 503
	refuseTime      = time.Second            // for their request, and again for the answer
	refuseWriteTime = 100 * time.Millisecond // for the answer to others, which fits into a new send buffer
)

// refuse answers a connection over a limit, and closes it. It does not wait, since Accept calls it.
func (n *Connections) refuse(c net.Conn, rule string) {
	select {
	case n.refusing <- struct{}{}:
		go func() {
			n.refuseGently(c, rule)
			<-n.refusing
		}()
	default:
		n.writeRefusal(c, rule, false, refuseWriteTime)
		_ = c.Close()
	}
}

// refuseGently lets the client send its request and read the answer. A client that receives an
// answer before it has sent a request may treat it as an error, and one whose connection is closed
// before its request was read may lose the answer.
func (n *Connections) refuseGently(c net.Conn, rule string) {
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(refuseTime))
	request := make([]byte, firstRead)
	got, err := io.ReadAtLeast(c, request, len(headStart))
	var network net.Error
	if err != nil && (!errors.As(err, &network) || !network.Timeout()) {
		return // the client has disconnected
	}
	n.writeRefusal(c, rule, string(request[:min(got, len(headStart))]) == headStart, refuseTime)
	linger(c, n.options.LingerTime)
}

// writeRefusal writes the answer of Options.Refuse.
func (n *Connections) writeRefusal(c net.Conn, rule string, head bool, within time.Duration) {
	var ctx fasthttp.RequestCtx
	n.options.Refuse(&ctx, rule)
	ctx.Response.SkipBody = head
	ctx.SetConnectionClose()
	_ = c.SetWriteDeadline(time.Now().Add(within))
	w := bufio.NewWriter(c)
	if ctx.Response.Write(w) == nil {
		_ = w.Flush()
	}
}
