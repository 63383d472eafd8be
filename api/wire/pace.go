package wire

import (
	"time"

	"github.com/valyala/fasthttp"
)

// pacePart is how much of a body must be written within the timeout of its Pace.
const pacePart = 1 << 20

// Pace is the least rate of a long body: a client has the timeout for each mebibyte. Otherwise a
// client that takes a few bytes at a time would keep what the body holds for hours. Only the time
// of writing counts, not that of making the body.
type Pace struct {
	Timeout time.Duration // zero: no limit
	Until   time.Time     // when all of the body must be written; zero: no limit

	conn  *conn // nil without a network
	bytes int64 // of the current mebibyte
	spent time.Duration
}

// NewPace returns the pace of the answer to a request.
func NewPace(ctx *fasthttp.RequestCtx, timeout time.Duration) Pace {
	c, _ := ctx.Conn().(*conn)
	return Pace{Timeout: timeout, conn: c}
}

// Write does a write within the time that there is for it.
func (p *Pace) Write(write func() (int64, error)) (n int64, err error) {
	began := time.Now()
	if p.conn != nil && p.Timeout > 0 {
		deadline := p.Deadline(began)
		if !p.Until.IsZero() && deadline.After(p.Until) {
			deadline = p.Until
		}
		if err := p.conn.SetWriteDeadline(deadline); err != nil {
			return 0, err
		}
	}
	n, err = write()
	p.Wrote(n, time.Since(began))
	return n, err
}

// Deadline returns until when the next write may take.
func (p *Pace) Deadline(now time.Time) time.Time { return now.Add(p.Timeout - p.spent) }

// Wrote counts a write.
func (p *Pace) Wrote(bytes int64, took time.Duration) {
	p.bytes += bytes
	p.spent += took
	if p.bytes >= pacePart {
		p.bytes, p.spent = 0, 0
	}
}
