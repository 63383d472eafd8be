package wire

import (
	"log/slog"
	"strings"
	"sync/atomic"
	"time"
)

// Log is the fasthttp.Server's Logger. The arguments of fasthttp's messages may contain bytes of
// requests, so only the format of a message is logged. Anybody can cause messages, so at most one a
// second is logged.
type Log struct {
	logger *slog.Logger
	count  atomic.Int64 // all messages
	logged atomic.Int64 // messages that were logged, or counted in a logged message
	next   atomic.Int64 // monotonic time from which the next may be logged
}

// logPause is the shortest time between two logged messages.
const logPause = time.Second

// NewLog makes a log that writes to a logger.
func NewLog(logger *slog.Logger) *Log { return &Log{logger: logger} }

// Count returns the number of messages, logged or not.
func (l *Log) Count() int64 { return l.count.Load() }

// Printf logs the format without its arguments, and how many messages were suppressed since the
// last one.
func (l *Log) Printf(format string, _ ...any) {
	count := l.count.Add(1)
	next, now := l.next.Load(), monotonic(time.Now())
	if now < next || !l.next.CompareAndSwap(next, now+int64(logPause)) {
		return
	}
	fixed, _, _ := strings.Cut(format, "%")
	l.logger.Warn("connection", "message", strings.TrimSpace(fixed), "suppressed", max(0, count-l.logged.Swap(count)-1))
}
