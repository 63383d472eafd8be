package state

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"hdqs/snapshot"
)

// scrubCounts counts what Scrub has read.
type scrubCounts struct {
	Passes, Bytes atomic.Int64
	Last          atomic.Int64 // end of the last pass, in seconds since 1970; 0 before the first
}

// Scrubbed is a file that Scrub reads besides segments.
type Scrubbed struct {
	Bytes int64
	Check func(ctx context.Context, pace func(bytes int) error)
}

// watchInterval is the time between two looks of WatchFiles.
const watchInterval = time.Second

// WatchFiles looks every second, until ctx ends, whether a file of a served segment or a bulk file
// was written to, and refuses the table or the file then. Rows that were read while the file had
// other bytes may be wrong and in caches, also when the file is right again before Scrub reads it.
func (s *Inspector) WatchFiles(ctx context.Context) {
	for pause(ctx, watchInterval) {
		s.CheckFiles()
	}
}

// CheckFiles refuses tables and files that were written to.
func (s *Inspector) CheckFiles() {
	for _, m := range s.snapshots.mapped() {
		if !m.IsSuspect() && m.WasWritten() {
			s.Quarantine(m.version, m.Segment, ByWrite, ErrWritten)
		}
		_ = m.Close() // of a mapping
	}
	s.hooks.CheckFiles()
}

// ErrWritten says that a file is not what was opened.
var ErrWritten = errors.New("api: the file was written to after it was opened")

// ScrubEvery reads all mapped segments again and again until ctx ends, so that a change of their
// bytes is noticed within the interval: passes begin every three quarters of it, and each takes a
// quarter at most, unless the machine is busy.
func (s *Inspector) ScrubEvery(ctx context.Context, interval time.Duration) {
	for pause(ctx, interval/2) {
		s.Scrub(ctx, interval/4)
	}
}

// Scrub compares the bytes of all segments of the current and the retained snapshots with their
// checksums, those of open bulk files with their digests, and refuses what differs. It spreads the
// work over about the given time.
func (s *Inspector) Scrub(ctx context.Context, over time.Duration) {
	total := int64(0)
	for _, m := range s.snapshots.mapped() {
		total += m.Bytes()
		_ = m.Close() // of a mapping
	}
	files := s.hooks.Files()
	for _, f := range files {
		total += f.Bytes
	}
	wait := func(bytes int) time.Duration {
		return time.Duration(float64(over) * float64(bytes) / float64(max(total, 1)))
	}
	seen := map[*snapshot.Segment]bool{}
	for ctx.Err() == nil {
		m, ok := s.unseen(seen)
		if !ok {
			break
		}
		if !m.IsSuspect() {
			s.scrub(ctx, m, wait)
		}
		_ = m.Close() // of a mapping
	}
	for _, f := range files {
		f.Check(ctx, s.pace(ctx, wait))
	}
	if ctx.Err() == nil {
		s.Scrubs.Passes.Add(1)
		s.Scrubs.Last.Store(time.Now().Unix())
	}
}

// unseen returns a segment that was not seen and notes it. Scrub holds only one at a time, so that
// replaced snapshots are closed while it runs.
func (s *Inspector) unseen(seen map[*snapshot.Segment]bool) (next mapped, ok bool) {
	for _, m := range s.snapshots.mapped() {
		if ok || seen[m.Segment] {
			_ = m.Close() // of a mapping
			continue
		}
		next, ok = m, true
		seen[m.Segment] = true
	}
	return next, ok
}

// scrub checks one segment. wait returns how long to wait after so many bytes.
func (s *Inspector) scrub(ctx context.Context, m mapped, wait func(bytes int) time.Duration) {
	err := m.Recheck(s.pace(ctx, wait))
	switch {
	case err == nil || ctx.Err() != nil:
	case errors.Is(err, snapshot.ErrFault):
		s.Quarantine(m.version, m.Segment, ByFault, err)
	default:
		s.Quarantine(m.version, m.Segment, ByChecksum, err)
	}
}

// pace counts what a check has read, and waits. Its error is that of ctx.
func (s *Inspector) pace(ctx context.Context, wait func(bytes int) time.Duration) func(bytes int) error {
	return func(bytes int) error {
		s.Scrubs.Bytes.Add(int64(bytes))
		if !pause(ctx, wait(bytes)) {
			return ctx.Err()
		}
		return nil
	}
}

// pause waits, and reports false if ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
