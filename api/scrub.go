package api

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"hdqs/snapshot"
)

// scrubCounts counts what Scrub has read.
type scrubCounts struct {
	passes, bytes atomic.Int64
	last          atomic.Int64 // end of the last pass, in seconds since 1970; 0 before the first
}

// watchInterval is the time between two looks of WatchFiles.
const watchInterval = time.Second

// WatchFiles looks every second, until ctx ends, whether a file of a served segment was written to,
// and refuses its table then. Rows that were read while the file had other bytes may be wrong and
// in caches, also when the file is right again before Scrub reads it.
func (s *Server) WatchFiles(ctx context.Context) {
	for pause(ctx, watchInterval) {
		s.checkFiles()
	}
}

func (s *Server) checkFiles() {
	for _, m := range s.mapped() {
		if !m.IsSuspect() && m.WasWritten() {
			s.suspect(m.version, m.Segment, byWrite, errWritten)
		}
		_ = m.Close() // of a mapping
	}
}

var errWritten = errors.New("api: the file was written to after it was opened")

// ScrubEvery reads all mapped segments again and again until ctx ends, so that a change of their
// bytes is noticed within the interval: passes begin every three quarters of it, and each takes a
// quarter at most, unless the machine is busy.
func (s *Server) ScrubEvery(ctx context.Context, interval time.Duration) {
	for pause(ctx, interval/2) {
		s.Scrub(ctx, interval/4)
	}
}

// Scrub compares the bytes of all segments of the current and the retained snapshots with their
// checksums, and refuses the tables of those that differ. It spreads the work over about the given
// time.
func (s *Server) Scrub(ctx context.Context, over time.Duration) {
	total := int64(0)
	for _, m := range s.mapped() {
		total += m.Bytes()
		_ = m.Close() // of a mapping
	}
	seen := map[*snapshot.Segment]bool{}
	for ctx.Err() == nil {
		m, ok := s.unseen(seen)
		if !ok {
			break
		}
		if !m.IsSuspect() {
			s.scrub(ctx, m, func(bytes int) time.Duration {
				return time.Duration(float64(over) * float64(bytes) / float64(max(total, 1)))
			})
		}
		_ = m.Close() // of a mapping
	}
	if ctx.Err() == nil {
		s.suspects.scrub.passes.Add(1)
		s.suspects.scrub.last.Store(time.Now().Unix())
	}
}

// unseen returns a segment that was not seen and notes it. Scrub holds only one at a time, so that
// replaced snapshots are closed while it runs.
func (s *Server) unseen(seen map[*snapshot.Segment]bool) (next mapped, ok bool) {
	for _, m := range s.mapped() {
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
func (s *Server) scrub(ctx context.Context, m mapped, wait func(bytes int) time.Duration) {
	err := m.Recheck(func(bytes int) error {
		s.suspects.scrub.bytes.Add(int64(bytes))
		if !pause(ctx, wait(bytes)) {
			return ctx.Err()
		}
		return nil
	})
	switch {
	case err == nil || ctx.Err() != nil:
	case errors.Is(err, snapshot.ErrFault):
		s.suspect(m.version, m.Segment, byFault, err)
	default:
		s.suspect(m.version, m.Segment, byChecksum, err)
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
