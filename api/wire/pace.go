package wire

import "time"

// pacePart is how much of a body must be written within the timeout of its Pace.
const pacePart = 1 << 20

// Pace is the least rate of a long body: a client has the timeout for each mebibyte. Otherwise a
// client that takes a few bytes at a time would keep what the body holds for hours. Only the time
// of writing counts, not that of making the body.
type Pace struct {
	Timeout time.Duration

	bytes int64 // of the current mebibyte
	spent time.Duration
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
